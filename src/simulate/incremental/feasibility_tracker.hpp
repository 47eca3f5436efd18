// Feasibility of a placement after a move, from the feasibility before: ops that cannot run, missing routes and split
// groups exactly; memory by a bound that no schedule can exceed.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/outcome.hpp"
#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

class FeasibilityTracker {
 public:
  explicit FeasibilityTracker(const Layout& layout);

  // A base on which every op can run and every needed route exists.
  void set_base(const std::vector<std::uint8_t>& device);
  // Call before the ops' devices change, then judge() after.
  void begin(const std::vector<std::uint8_t>& device, const std::vector<std::uint32_t>& moved);
  // Without makespan and overflow. unsupported_op and missing_route mean that nothing can be timed.
  Outcome judge(const std::vector<std::uint8_t>& device, const std::vector<std::uint32_t>& moved);
  // After judge(): whether all that could be alive at once fits on every device.
  [[nodiscard]] bool memory_settled() const;
  // The placement last judged becomes the base.
  void commit();

 private:
  [[nodiscard]] Outcome missing_route(const std::vector<std::uint8_t>& device) const;
  Outcome split_group(const std::vector<std::uint8_t>& device);
  [[nodiscard]] bool is_split(const std::vector<std::uint8_t>& device, std::uint32_t group) const;
  void add_tensors(const std::vector<std::uint8_t>& device, Bytes sign);
  void add_tensor(const std::vector<std::uint8_t>& device, std::uint32_t tensor, Bytes sign);

  const Layout& layout_;
  bool limited_ = false;
  Lists members_;  // of groups
  struct Split {
    std::uint32_t group;
    bool split;
  };
  std::vector<char> split_;  // by group, of the base
  std::size_t split_count_ = 0;
  Bytes most_scratch_ = 0;
  // D: resident bytes, every output and every copy at once, the largest scratch; of the base and of the trial.
  std::vector<Bytes> bound_, trial_bound_;
  // Of the move.
  std::vector<std::uint32_t> tensors_;  // that its ops read or write, ascending
  std::vector<Split> groups_;           // of its ops, ascending
  std::vector<std::uint32_t> copied_;   // D: the last tensor counted there, by serial number
  std::uint32_t serial_ = 0;
};

}  // namespace emplace::simulate
