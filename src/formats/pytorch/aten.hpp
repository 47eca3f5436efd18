// Translates ATen operators, the vocabulary of torch.export, into the types and attributes of the op table.
#pragma once

#include <string>
#include <string_view>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

// "torch.ops.aten.conv2d.default" in its parts. Functions of Python ("_operator.mul") have no library.
struct AtenTarget {
  std::string library, name, overload;
  bool in_place = false;  // "relu_": the name has no underscore then, and the first operand is overwritten

  explicit AtenTarget(std::string_view target);
  [[nodiscard]] bool is_control_flow() const { return library == "higher_order"; }
  // "aten.conv2d", "transformers.grouped_mm": the type of an op that the table does not have.
  [[nodiscard]] std::string full_name() const { return library.empty() ? name : library + "." + name; }
};

struct AtenOpName {
  std::string_view aten;  // name, or name and overload ("max.other")
  std::string_view type;
  // Names of the arguments that are the op's first operands, in order; other tensors follow as the file has them.
  std::string_view operands = "";
};
// Operators that are not listed keep their full name.
AtenOpName graph_op_name(const AtenTarget& target);

// Whether the output has no data of its own, but is another view of the first operand's.
bool is_view(std::string_view type);

// The attribute's name in the op table: "kernel_shape" for "kernel_size".
std::string attribute_of_argument(std::string_view argument);

}  // namespace emplace::formats
