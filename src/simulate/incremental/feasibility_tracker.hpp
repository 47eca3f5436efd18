// Computes the feasibility of a placement after a move from the feasibility before it: exactly for ops that cannot run,
// missing routes, split groups and cuts; for memory by an upper bound that holds for every schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/outcome.hpp"
#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

class FeasibilityTracker {
 public:
  explicit FeasibilityTracker(const Layout& layout);

  // Sets the base, in which every op must be able to run and every needed route must exist.
  void set_base(const std::vector<std::uint8_t>& device);
  // Must be called before the ops' devices change, and feasibility() after.
  void begin(const std::vector<std::uint8_t>& device, const std::vector<std::uint32_t>& moved);
  // The outcome without makespan and overflow. After unsupported_op and missing_route the placement cannot be timed.
  Outcome feasibility(const std::vector<std::uint8_t>& device, const std::vector<std::uint32_t>& moved);
  // After feasibility(): whether each device's memory holds everything that could be alive at the same time.
  [[nodiscard]] bool memory_settled() const;
  // The placement last judged becomes the base.
  void commit();

 private:
  [[nodiscard]] Outcome missing_route(const std::vector<std::uint8_t>& device) const;
  Outcome split_group(const std::vector<std::uint8_t>& device);
  [[nodiscard]] bool is_split(const std::vector<std::uint8_t>& device, std::uint32_t group) const;
  [[nodiscard]] std::uint32_t cuts_of_tensors(const std::vector<std::uint8_t>& device) const;
  void add_tensors(const std::vector<std::uint8_t>& device, Bytes sign);
  void add_tensor(const std::vector<std::uint8_t>& device, std::uint32_t tensor, Bytes sign);

  const Layout& layout_;
  const bool limited_;  // in memory
  const bool cuts_limited_;
  Lists members_;  // G rows: the ops of each group
  struct Split {
    std::uint32_t group;
    bool split;
  };
  std::vector<char> split_;  // indexed by group: 1 if the base splits it
  std::size_t split_count_ = 0;
  // D: sum of resident bytes, of all outputs and copies, and of the largest scratch; of the base and after the move.
  std::vector<Bytes> bound_, moved_bound_;
  std::uint32_t cuts_ = 0, moved_cuts_ = 0;  // of the base and after the move, if they are limited
  // Data of the move.
  std::vector<std::uint32_t> tensors_;  // that the moved ops read or write, ascending
  std::vector<Split> groups_;           // of the moved ops, ascending
  std::vector<std::uint32_t> copied_;   // D: the last tensor counted there, by serial number
  std::uint32_t serial_ = 0;
};

}  // namespace emplace::simulate
