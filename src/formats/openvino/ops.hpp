// OpenVINO op types, attributes and element types in the vocabulary of the op table.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "emplace/graph/graph.hpp"

namespace pugi {
class xml_node;
}

namespace emplace::formats {

struct OpenvinoOpName {
  std::string_view openvino;
  std::string_view type;
  // Positions of the operands in the Graph's order ("0453" of LSTMSequence); those that are not named follow.
  std::string_view order = "";
};
// Types that ONNX does not have keep their names.
OpenvinoOpName graph_op_name(std::string_view openvino, const pugi::xml_node& data);

// Whole numbers, lists of them, numbers and short texts of <data>, under the names that cost rules know.
std::map<std::string, Attribute> attributes_of(const pugi::xml_node& data);

// "FP32" and "f32" alike; InputError for unknown names. Types narrower than a byte count one byte an element.
DType dtype_of_openvino(std::string_view precision, const std::string& place);

}  // namespace emplace::formats
