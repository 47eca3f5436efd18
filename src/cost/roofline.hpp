// The roofline of one device: how long an op lasts on it.
#pragma once

#include <array>
#include <string>
#include <unordered_set>

#include "emplace/graph/op_table.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::cost {

// The number type that an op computes in: the first floating-point one among its outputs, then its operands; without
// any, the first known one in the same order. So ArgMax and Greater compute in their operands' type, Cast in its
// result's.
DType compute_dtype(const Graph& graph, OpId op);

// A device's figures, looked up once.
class Roofline {
 public:
  // `fused`: of kernels in a run that fuses, which are faster by the device's `fused_speedup`.
  explicit Roofline(const machine::MachineDevice& device, bool fused = false);

  // With the device's figures for the op's class and dtype,
  //   compute = (flops + half_flops) / (peak x efficiency)                         0 for an op without FLOPs
  //   traffic = (bytes + half_bytes) / (memory bandwidth x memory_efficiency)      0 for an op without bytes
  //   work    = max(compute, traffic) + (1 - overlap) x min(compute, traffic)      / fused_speedup, in a fused run
  //   seconds = work + launch overhead
  // so that an op of few FLOPs reaches the share efficiency x flops / (flops + half_flops) of the peak. With overlap 1
  // (the default) this is the roofline of Williams, Waterman and Patterson 2009.
  // 0 for ops of class `free`: they do no work and are not launched. NaN: the device cannot run the type. A dtype
  // without a peak of its own takes the device's `default`; InputError naming op, device and dtype if there is none.
  // `place` begins the message.
  [[nodiscard]] double seconds(const OpCost& cost, DType dtype, const GraphOp& op, const std::string& place) const;

 private:
  static constexpr std::size_t dtype_count = static_cast<std::size_t>(DType::c128) + 1;
  static constexpr std::size_t class_count = static_cast<std::size_t>(OpClass::other) + 1;

  std::string name_;
  std::array<double, dtype_count> peak_flops_{};  // 0: none
  struct ClassFigures {
    double efficiency, half_flops, bytes_per_s, half_bytes, speedup;
  };
  std::array<ClassFigures, class_count> classes_{};
  double overlap_;
  double overhead_s_;
  std::unordered_set<std::string> unsupported_;
};

}  // namespace emplace::cost
