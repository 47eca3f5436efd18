// Converts ONNX's element types, shapes and attributes into those of a Graph.
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
// Element type and shape of the tensor called `name`; both are unknown for sequences and maps. InputError for element
// types that have no DType.
TypeAndShape type_and_shape(const onnx::TypeProto& type, const std::string& file, const std::string& name);
// Element type and shape of a weight; InputError also for negative sizes, more than 2^62 bytes and a missing element
// type.
TypeAndShape type_and_shape(const onnx::TensorProto& weight, const std::string& file, const std::string& name);

// TensorProto.DataType's number; 0 for DType::unknown.
std::int32_t element_type_of(DType type);

// The attributes that are whole numbers, lists of them, numbers and short texts, without tensors, graphs and long
// lists.
std::map<std::string, Attribute> attributes_of(const onnx::NodeProto& node);

}  // namespace emplace::formats
