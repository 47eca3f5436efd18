// The modules from which PyTorch exported the nodes of an ONNX file.
#pragma once

#include <string>
#include <vector>

namespace emplace::formats {

// For each node of the main graph (in the order of the file, as read_graph numbers ops) the path of the innermost
// module that called it ("layers.0.q"), from the key "pkg.torch.onnx.name_scopes" of its metadata_props, which
// torch.onnx.export(dynamo=True) writes; "" for a node without the key, and for one that the model itself called.
// Weights are not loaded. InputError if the file is no ONNX model.
std::vector<std::string> read_onnx_modules(const std::string& model);

}  // namespace emplace::formats
