// TensorFlow op types in the vocabulary of the op table.
#pragma once

#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "formats/tensorflow/node.hpp"

namespace emplace::formats {

// How an op type of TensorFlow is written in a Graph. Types that are not listed keep their names.
struct TfOpName {
  std::string_view tensorflow;
  std::string_view type;
  // Positions of the operands that come first in the Graph ("10" of Split: the value, then the axis); the rest follow.
  std::string_view order = "";
};
TfOpName graph_op_name(std::string_view tensorflow);

// Sizes, strides, flags and short texts, under the names that cost rules know.
std::map<std::string, Attribute> attributes_of(const TfNode& node);

// Element type of output `position`; DType::unknown where the node does not say.
DType output_dtype(const TfNode& node, std::size_t position, const std::string& place);

// Ops that only act: no output even where nobody states their outputs' shapes.
bool has_no_outputs(std::string_view tensorflow);
// Ops whose output keeps its value for the whole step and beyond: "Variable" and handles.
bool holds_variable(std::string_view tensorflow);
// Does the type take weights or sizes at this position? Text graphs for OpenCV leave those nodes out: they are in the
// .pb beside it.
bool takes_weight(std::string_view tensorflow, std::size_t position);

}  // namespace emplace::formats
