// The rows of the op table; a row describes one op type.
#pragma once

#include <span>
#include <string_view>

#include "graph/ops/op_table.hpp"

namespace emplace {

class Backward;

// An op with its operands' sizes. Operands without a fixed size count 0 and set `incomplete`.
class OpView {
 public:
  OpView(const Graph& graph, const GraphOp& op) : graph_(graph), op_(op) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const GraphOp& op() const { return op_; }
  // For absent operands: an empty shape of unknown rank.
  [[nodiscard]] const Shape& input_shape(std::size_t position) const;
  [[nodiscard]] const Shape& output_shape(std::size_t position) const;
  [[nodiscard]] bool has_input(std::size_t position) const;
  // Elements and bytes; 0 for absent operands.
  [[nodiscard]] double input_elements(std::size_t position) const;
  [[nodiscard]] double output_elements(std::size_t position) const;
  [[nodiscard]] Bytes input_bytes(std::size_t position) const;
  [[nodiscard]] Bytes output_bytes(std::size_t position) const;
  // Product of the dimensions from `first` on.
  [[nodiscard]] double product_from(const Shape& shape, std::size_t first) const;
  [[nodiscard]] std::int64_t whole(const char* attribute, std::int64_t fallback) const;
  [[nodiscard]] const std::vector<std::int64_t>* wholes(const char* attribute) const;

  void set_incomplete() const { incomplete_ = true; }
  [[nodiscard]] bool incomplete() const { return incomplete_; }

 private:
  const Graph& graph_;
  const GraphOp& op_;
  mutable bool incomplete_ = false;
};

struct MemoryTraffic {
  Bytes read = 0, written = 0;
};

// The sum, at most 2^62, so that sizes from an untrusted file cannot overflow; ProblemBuilder refuses such totals.
[[nodiscard]] constexpr Bytes add_bytes(Bytes a, Bytes b) { return a > total_limit - b ? total_limit : a + b; }

// Returns FLOPs, where a multiply-add counts two. `factor` is the row's number: FLOPs per element if the rule counts
// elements.
using FlopsRule = double (*)(const OpView& op, double factor);
using TrafficRule = MemoryTraffic (*)(const OpView& op);
// Emits the backward ops of a forward op. nullptr means generic_gradient: one `<Type>Grad` with twice the forward
// FLOPs.
using GradientRule = void (*)(Backward& backward, OpId forward);

struct OpRow {
  std::string_view type;
  OpClass cls;
  FlopsRule flops;
  double factor;
  TrafficRule traffic;
  GradientRule gradient;
  // False for state and control flow: their outputs are not known before the step, even if their operands are constant.
  bool foldable = true;
};

// The rows, with one function for each framework's type names. To add a framework, add a file and one line in
// op_table.cpp.
std::span<const OpRow> onnx_rows();
std::span<const OpRow> training_rows();
std::span<const OpRow> tensorflow_rows();
std::span<const OpRow> openvino_rows();
std::span<const OpRow> pytorch_rows();
std::span<const OpRow> ggml_rows();

// Returns nullptr if the type is not in the table.
const OpRow* find_row(std::string_view type);

}  // namespace emplace
