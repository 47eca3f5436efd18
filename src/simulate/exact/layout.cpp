#include "simulate/exact/layout.hpp"

#include <algorithm>
#include <limits>

#include "emplace/base/error.hpp"

namespace emplace::simulate {

Bytes most_scratch(const Problem& problem) {
  return problem.scratch.empty() ? 0 : *std::ranges::max_element(problem.scratch);
}

// A device holds each tensor at most once, its own or a copy. The totals of a Problem are at most 2^62 bytes.
bool memory_can_overflow(const Problem& problem) {
  Bytes everything = most_scratch(problem);
  for (const Bytes resident : problem.resident) everything += resident;
  for (const Bytes bytes : problem.tensor_bytes) everything += bytes;
  return std::ranges::any_of(problem.devices, [&](const Device& device) { return device.memory < everything; });
}

Layout::Layout(const Problem& p) : problem(p), network(p), columns(p.route_classes.size() + 1) {
  if (p.tensor_count() > std::numeric_limits<std::uint32_t>::max() / columns)
    throw InputError({}, "{} tensors with {} different transfer times each are more than the engines can hold",
                     p.tensor_count(), columns - 1);
  edge_begin.reserve(p.op_count() + 1);
  edge_begin.push_back(0);
  edges.reserve(p.edge_count());
  tensor_edge.resize(p.tensor_count());
  for (std::uint32_t op = 0; op < p.op_count(); ++op) {
    for (const std::uint32_t tensor : p.outputs[op]) {
      const auto first = static_cast<std::ptrdiff_t>(edges.size());
      tensor_edge[tensor] = static_cast<std::uint32_t>(first);
      for (const std::uint32_t consumer : p.consumers[tensor])
        edges.push_back({consumer, tensor, static_cast<std::uint32_t>(tensor * columns)});
      std::sort(edges.begin() + first, edges.end(),
                [](const Edge& a, const Edge& b) { return a.consumer < b.consumer; });
    }
    most_edges = std::max(most_edges, edges.size() - edge_begin.back());
    edge_begin.push_back(static_cast<std::uint32_t>(edges.size()));
    if (p.inputs[op].empty()) roots.push_back(op);
  }
  for (std::size_t op = 0; op < p.op_count(); ++op)
    input_count.push_back(static_cast<std::uint32_t>(p.inputs[op].size()));
  transfer_time.reserve(p.tensor_count() * columns);
  for (std::size_t tensor = 0; tensor < p.tensor_count(); ++tensor) {
    transfer_time.push_back(0);
    const auto row = p.transfer_time.begin() + static_cast<std::ptrdiff_t>(tensor * p.route_classes.size());
    transfer_time.insert(transfer_time.end(), row, row + static_cast<std::ptrdiff_t>(p.route_classes.size()));
  }
}

Run::Run(const Layout& given) : layout(given), ops(given.problem.op_count()), send_start(given.edges.size()) {}

bool Run::place(const std::vector<std::uint8_t>& device) {
  const Problem& p = layout.problem;
  const std::size_t devices = p.device_count();
  const Ticks* time = p.op_time.data();
  Ticks cannot = 0;
  for (std::size_t op = 0; op < ops.size(); ++op, time += devices) {
    const Ticks duration = time[device[op]];
    cannot |= duration;  // cannot_run is the only negative time
    ops[op] = {0, duration, layout.input_count[op], layout.edge_begin[op], layout.edge_begin[op + 1], device[op]};
  }
  makespan = 0;
  return cannot >= 0;
}

void Run::rewind() {
  for (std::size_t op = 0; op < ops.size(); ++op) {
    ops[op].start = 0;
    ops[op].missing = layout.input_count[op];
  }
  makespan = 0;
}

}  // namespace emplace::simulate
