// Graphs and machines small enough to work out by hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::cost {

inline GraphOp op(std::string name, std::string type, std::vector<Operand> inputs) {
  GraphOp made;
  made.name = std::move(name);
  made.type = std::move(type);
  made.inputs = std::move(inputs);
  return made;
}

// relu(x W): x 100 x 200 from outside, W 200 x 300 a parameter. Tensors: x, products, activations.
inline Graph dense_relu() {
  Graph g;
  g.name = "dense";
  const auto x = g.add_input("x", DType::f32, {100, 200});
  const auto w = g.add_parameter("w", DType::f32, {200, 300});
  const auto dense = g.add_op(op("dense", "MatMul", {Operand::of(x), Operand::of(w)}));
  const auto products = g.add_output(dense, "products", DType::f32, {100, 300});
  const auto relu = g.add_op(op("relu", "Relu", {Operand::of(products)}));
  g.add_output(relu, "activations", DType::f32, {100, 300});
  return g;
}

// "fast": 1 TFLOP/s, half of it in matrix products and a tenth elsewhere, 100 GB/s, 10 us a launch, 1 MiB.
// "slow": 10 GFLOP/s, all of it, 10 GB/s, no launch overhead, no memory limit. One channel from fast to slow.
inline machine::Machine two_speeds() {
  return machine::parse_machine(R"(
name = "two-speeds"
[[device]]
name = "fast"
kind = "gpu"
memory = "1 MiB"
memory_bytes_per_s = 1e11
launch_overhead_s = 1e-5
peak_flops = { f32 = 1e12 }
efficiency = { matmul = 0.5, default = 0.1 }
[[device]]
name = "slow"
kind = "cpu"
memory = "unlimited"
memory_bytes_per_s = 1e10
peak_flops = { f32 = 1e10 }
efficiency = { default = 1 }
[[channel]]
name = "out"
latency_s = 5e-6
bytes_per_s = 1e9
contention = false
serves = ["fast -> slow"]
)",
                                "two-speeds.toml");
}

}  // namespace emplace::cost
