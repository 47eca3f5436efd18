// Translates TensorFlow op types and attributes into those of the op table.
#pragma once

#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "formats/tensorflow/node.hpp"

namespace emplace::formats {

// The type that a TensorFlow op has in a Graph. Types that are not listed keep their names.
struct TfOpName {
  std::string_view tensorflow;
  std::string_view type;
  // Positions of the operands that come first in the Graph ("10" for Split: the value, then the axis); the rest follow.
  std::string_view order = "";
};
TfOpName graph_op_name(std::string_view tensorflow);

// The attributes that are sizes, strides, flags and short texts, under the names that the cost rules use.
std::map<std::string, Attribute> attributes_of(const TfNode& node);

// Element type of output `position`; DType::unknown if the node does not state it.
DType output_dtype(const TfNode& node, std::size_t position, const std::string& place);

// Whether the type never has outputs (it only has side effects), even if the file does not state the outputs' shapes.
bool has_no_outputs(std::string_view tensorflow);
// Whether the op's output keeps its value beyond the step: "Variable" and handles.
bool holds_variable(std::string_view tensorflow);
// Whether the node's first output is a handle of a resource, such as a variable.
bool gives_handle(const TfNode& node);
// Whether the type has weights or sizes as operand at this position. Text graphs for OpenCV leave those nodes out; they
// are only in the .pb beside the text.
bool takes_weight(std::string_view tensorflow, std::size_t position);

}  // namespace emplace::formats
