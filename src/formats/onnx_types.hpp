// ONNX's element types, shapes and attributes as ours.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

#include "emplace/graph/graph.hpp"

namespace emplace {

// 0 (undefined) is DType::unknown; InputError for types that have no DType. `place` names the file and the tensor.
DType dtype_of_onnx(std::int32_t element_type, const std::string& place);

struct TypeAndShape {
  DType dtype = DType::unknown;
  Shape shape;
};
// Of a tensor type; sequences, maps and nullptr are unknown in both.
TypeAndShape type_and_shape(const onnx::TypeProto* type, const std::string& place);
// Of a weight; InputError for negative sizes, for more than 2^62 bytes and where the element type is not given.
TypeAndShape type_and_shape(const onnx::TensorProto& tensor, const std::string& place);

// Whole numbers, lists of them, numbers and short texts; tensors, graphs and long lists are left out.
std::map<std::string, Attribute> attributes_of(const onnx::NodeProto& node);

}  // namespace emplace
