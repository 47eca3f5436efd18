// Shape inference: libonnx's functions for each operator, driven by our own loop.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace emplace {

// libonnx's own driver (InferShapes) wants nodes in topological order, hides which nodes failed, and doubles its data
// without limit on hostile graphs (a chain of Gather(x, x) or Concat(x, x)). This one gives the same shapes (tested
// with the counts of real models), not strict and with data propagation, in bounded time and memory.
class OnnxShapes {
 public:
  // `order`: positions of the main graph's nodes, producers first. Attributes of the nodes may be touched, not changed.
  // InputError for tensors with a negative size or more than 64 dimensions, and for sub-graphs and functions that
  // expand to more than a million nodes.
  OnnxShapes(onnx::ModelProto& model, std::span<const std::uint32_t> order, const std::string& file);
  ~OnnxShapes();
  OnnxShapes(const OnnxShapes&) = delete;
  OnnxShapes& operator=(const OnnxShapes&) = delete;

  // nullptr where nothing is known.
  [[nodiscard]] const onnx::TypeProto* type_of(const std::string& tensor) const;
  // Nodes that libonnx refused, counted, with the first one's words; "" if there are none.
  [[nodiscard]] std::string failures() const;

 private:
  class Inference;
  std::unique_ptr<Inference> inference_;
};

}  // namespace emplace
