#include "formats/body_cost.hpp"

#include <algorithm>
#include <limits>

#include "graph/ops/op_table.hpp"

namespace emplace::formats {

namespace {

std::int64_t whole_bytes(double bytes) {
  return static_cast<std::int64_t>(std::clamp(bytes, 0.0, static_cast<double>(total_limit)));
}

}  // namespace

BodyCost body_cost_of(const Graph& graph, OpId op) {
  const OpCost cost = emplace::cost_of(graph, op);
  return {.flops = cost.flops,
          .bytes_read = static_cast<double>(cost.bytes_read),
          .bytes_written = static_cast<double>(cost.bytes_written),
          .launches = cost.cls != OpClass::free ? cost.launches : 0.0,
          .op_class = name_of(cost.cls),
          .class_flops = cost.flops,
          .is_complete = cost.known_type && cost.known_shapes};
}

void add_cost(BodyCost& sum, const BodyCost& cost, double times) {
  sum.flops += times * cost.flops;
  sum.bytes_read += times * cost.bytes_read;
  sum.bytes_written += times * cost.bytes_written;
  sum.launches += times * cost.launches;
  sum.is_complete = sum.is_complete && cost.is_complete;
  if (times * cost.class_flops > sum.class_flops) {
    sum.class_flops = times * cost.class_flops;
    sum.op_class = cost.op_class;
  }
}

void set_body_cost(GraphOp& op, const BodyCost& cost) {
  op.attributes["body_flops"] = std::min(cost.flops, std::numeric_limits<double>::max());
  op.attributes["body_bytes_read"] = whole_bytes(cost.bytes_read);
  op.attributes["body_bytes_written"] = whole_bytes(cost.bytes_written);
  op.attributes["body_launches"] = std::min(cost.launches, std::numeric_limits<double>::max());
  op.attributes["body_class"] = cost.op_class;
  op.attributes["body_incomplete"] = std::int64_t{cost.is_complete ? 0 : 1};
}

}  // namespace emplace::formats
