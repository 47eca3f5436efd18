// Loads an ONNX file without its weights, in bounded memory.
#pragma once

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <string>

namespace emplace::formats {

// The model is allocated in `memory`. Weights are skipped in the file, not read: of a tensor with more than 16 KiB of
// data only type and dimensions are kept, and it is marked as stored elsewhere, so that it is not mistaken for an empty
// tensor. Documentation is dropped too. All names are valid UTF-8. InputError if the file is missing, empty, truncated,
// damaged or no ONNX model, is larger than protobuf's 2 GiB, nests deeper than 16 sub-graphs, or needs more than 1 GiB
// without its weights.
onnx::ModelProto& load_onnx_without_weights(const std::string& path, google::protobuf::Arena& memory);

}  // namespace emplace::formats
