// Op types of ggml, with which llama.cpp computes language models, where ONNX has no op with the same operands. Weights
// are quantised: a parameter's stored_bytes are what a product reads.
#include <algorithm>

#include "graph/ops/op_rules.hpp"

namespace emplace {

namespace {

double real_attribute(const OpView& op, const char* name) {
  const auto found = op.op().attributes.find(name);
  const double* value = found == op.op().attributes.end() ? nullptr : std::get_if<double>(&found->second);
  if (value == nullptr) op.set_incomplete();
  return value == nullptr ? 0 : *value;
}

// (x, weights of all experts, chosen experts of each token): of the weights only those of the experts that are used,
// which are at most the attribute "experts_read".
MemoryTraffic read_experts(const OpView& op) {
  const std::int64_t all = std::max<std::int64_t>(1, op.whole("experts", 1));
  const std::int64_t read = std::clamp<std::int64_t>(op.whole("experts_read", all), 0, all);
  Bytes bytes = add_bytes(op.input_bytes(0), op.input_bytes(2));
  bytes = add_bytes(bytes, op.input_bytes(1) / all * read);
  for (std::size_t i = 3; i < op.op().inputs.size(); ++i) bytes = add_bytes(bytes, op.input_bytes(i) / all * read);
  return {bytes, op.output_bytes(0)};
}

// (queries: tokens x heads x size of a key, ...), output tokens x heads x size of a value. Each token attends to
// "attended" others (a mean): two products and a softmax of `factor` FLOPs a score.
double cached_attention_flops(const OpView& op, double factor) {
  const Shape& query = op.input_shape(0);
  if (query.dims.size() != 3 || query.dims[2] <= 0) {
    op.set_incomplete();
    return 0;
  }
  const double scores = op.input_elements(0) / static_cast<double>(query.dims[2]) * real_attribute(op, "attended");
  return 2 * op.input_elements(0) * real_attribute(op, "attended") + factor * scores +
         2 * op.output_elements(0) * real_attribute(op, "attended");
}

// Its operands, and what it reads of the KV cache, which is no operand but the op's state.
MemoryTraffic cached_attention_traffic(const OpView& op) {
  MemoryTraffic traffic = all_operands(op);
  traffic.read = add_bytes(traffic.read, std::clamp<Bytes>(op.whole("cache_read", 0), 0, total_limit));
  traffic.written = add_bytes(traffic.written, std::clamp<Bytes>(op.whole("cache_written", 0), 0, total_limit));
  return traffic;
}

constexpr OpRow rows[] = {
    // type, class, FLOPs, factor, traffic, gradient
    // (x, weight, bias ...): the weight is rows x columns.
    {"ggml.mul_mat", OpClass::matmul, matmul_flops, 2, all_operands, nullptr},
    {"ggml.mul_mat_id", OpClass::matmul, matmul_flops, 2, read_experts, nullptr},
    {"ggml.flash_attn_ext", OpClass::matmul, cached_attention_flops, 5, cached_attention_traffic, nullptr},
    // An activation (4), and the product with its gate.
    {"ggml.glu", OpClass::elementwise, per_output, 5, all_operands, nullptr},
    {"ggml.tanh", OpClass::elementwise, per_output, 1, all_operands, nullptr},
};

}  // namespace

std::span<const OpRow> ggml_rows() { return rows; }

}  // namespace emplace
