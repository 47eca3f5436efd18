// Translates OpenVINO op types, attributes and element types into those of the op table.
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
  // The operands' positions in the file, in the Graph's order ("0456312" for LSTMSequence); operands that are not
  // listed follow.
  std::string_view order = "";
};
// Types that ONNX lacks keep their names.
OpenvinoOpName graph_op_name(std::string_view openvino, const pugi::xml_node& data);

// The attributes of <data> that are whole numbers, lists of them, numbers and short texts, under the names that the
// cost rules use.
std::map<std::string, Attribute> attributes_of(const pugi::xml_node& data);

// Accepts "FP32" and "f32" alike; InputError for unknown names. Types narrower than a byte count one byte per element.
DType dtype_of_openvino(std::string_view precision, const std::string& place);

}  // namespace emplace::formats
