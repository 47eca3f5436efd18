// The roofline model of one device: the time of an op on it.
#pragma once

#include <array>
#include <map>
#include <string>
#include <unordered_set>

#include "emplace/machine/machine.hpp"
#include "graph/ops/op_table.hpp"

namespace emplace::cost {

// The number type in which an op computes: that which its attribute "computes_in" names; without one the first
// floating-point type among its outputs, then its operands; if there is none, the first known type in the same order.
// Thus ArgMax and Greater compute in the type of their operands, Cast in that of its result.
DType compute_dtype(const Graph& graph, OpId op);

// The figures of a device, looked up once for all ops.
class Roofline {
 public:
  // `fused`: whether the times are of kernels in a fused run, which are faster by the device's `fused_speedup`.
  explicit Roofline(const machine::MachineDevice& device, bool fused = false);

  // With the device's figures for the op's class and dtype,
  //   compute = (flops + half_flops) / (peak x efficiency)                         0 for an op without FLOPs
  //   traffic = (bytes + half_bytes) / (memory bandwidth x memory_efficiency)      0 for an op without bytes
  //   work    = max(compute, traffic) + (1 - overlap) x min(compute, traffic)      / fused_speedup, in a fused run
  //   seconds = work + launches x launch overhead                                  (launches: OpCost::launches)
  // so that an op of few FLOPs reaches the share efficiency x flops / (flops + half_flops) of the peak. With overlap 1
  // (the default) this is the roofline of Williams, Waterman and Patterson 2009.
  // An efficiency of the op's type goes before that of its class.
  // Returns 0 for ops of class `free`, which do no work and are not launched, and NaN if the device cannot run the
  // type. A dtype that is not in peak_flops uses its `default`; InputError naming op, device and dtype if there is
  // none. `place` begins the message.
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
  std::map<std::string, double> efficiency_of_type_;  // of op types with a figure of their own
  double overlap_;
  double overhead_s_;
  std::unordered_set<std::string> unsupported_;
};

}  // namespace emplace::cost
