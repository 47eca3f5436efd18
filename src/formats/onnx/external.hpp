// Checks of weights that an ONNX model stores in files beside it.
#pragma once

#include <onnx/onnx_pb.h>

#include <span>
#include <string>
#include <vector>

namespace emplace::formats {

// Throws InputError if the tensor's data is stated to be in another file (external_data, "location") and that file is
// missing, too short for its offset and length, or outside the model's folder. The file's content is not read. Graphs
// without any data are accepted.
void check_external_data(const onnx::TensorProto& tensor, const std::string& model_file);

// The files beside the model that hold weights of it.
std::vector<std::string> onnx_weights_beside(const std::string& model);

// Throws InputError if the model stores weights in files beside it and one of `outputs`, which will refer to them by
// the same relative names, is in another folder or is one of these files.
void check_weights_stay_beside(const std::string& model, std::span<const std::string> outputs);

}  // namespace emplace::formats
