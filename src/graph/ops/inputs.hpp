// The inputs of a model: what a graph gets from outside in each step.
#pragma once

#include <string>
#include <vector>

#include "emplace/graph/graph.hpp"

namespace emplace {

// Whether the op stands for an input (Parameter of OpenVINO, Placeholder of TensorFlow) and computes nothing.
bool stands_for_input(const GraphOp& op);

// Whether the op gives the next sample of a data set or queue (IteratorGetNext of TensorFlow): its outputs are inputs
// of the model, although ops of the file feed it.
bool brings_data(const GraphOp& op);

struct GraphInput {
  std::string name;  // as --shape takes it: of the op that stands for the input, or of the tensor
  const GraphTensor* tensor;
};
// Tensors without a producer, and those of ops that stand for inputs or bring data, in the order of the graph's
// tensors.
std::vector<GraphInput> inputs_of(const Graph& graph);

}  // namespace emplace
