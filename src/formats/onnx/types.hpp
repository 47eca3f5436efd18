// ONNX's element types, shapes and attributes as ours.
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

struct TypeAndShape {
  DType dtype = DType::unknown;
  Shape shape;
};
// Of the type of the tensor called `name`; sequences and maps are unknown in both. InputError for element types that
// have no DType.
TypeAndShape type_and_shape(const onnx::TypeProto& type, const std::string& file, const std::string& name);
// Of a weight; InputError for negative sizes too, for more than 2^62 bytes and where the element type is not given.
TypeAndShape type_and_shape(const onnx::TensorProto& weight, const std::string& file, const std::string& name);

// TensorProto.DataType's number; 0 for DType::unknown.
std::int32_t element_type_of(DType type);

// Whole numbers, lists of them, numbers and short texts; tensors, graphs and long lists are left out.
std::map<std::string, Attribute> attributes_of(const onnx::NodeProto& node);

}  // namespace emplace::formats
