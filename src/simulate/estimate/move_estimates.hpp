// Estimates of the step time after a move, in the time of a few ops: from the run of the placement before it, without
// simulating the rest of the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

// The head of an op is its start, its tail the longest path from its start to the end of the step over devices, data
// and channels. After a move, the longest path through an op near it is about its new head, computed from the old heads
// of what it waits for, plus its old tail (for job shops: Taillard 1994; Balas, Vazacopoulos 1998). The estimate is the
// longest of these paths. It does not see that a change early in the step also shifts what comes later, nor that the
// new transfers wait for channels and make others wait.
//
// The problem must outlive it.
class MoveEstimates {
 public:
  explicit MoveEstimates(const Problem& problem);

  // The run of a timed placement: devices and start times in ticks (N each).
  void set_run(const std::vector<std::uint8_t>& device, const std::vector<Ticks>& start);
  // The ops that may move together; there must be a run.
  void choose(std::span<const std::uint32_t> ops);
  // About the longest path, in ticks, through the chosen ops on `device`, which must be able to run them, their
  // consumers, and the ops that then run directly after them or take their turn.
  [[nodiscard]] Ticks path_on(std::uint8_t device);

 private:
  [[nodiscard]] bool is_chosen(std::uint32_t op) const { return chosen_in_[op] == choice_; }
  void find_arrivals();
  void find_tails();
  [[nodiscard]] Ticks arrival(std::uint32_t op, std::uint32_t device, std::uint32_t target) const;
  [[nodiscard]] Ticks free_before(std::uint32_t op, std::uint32_t target) const;
  void visit(std::uint32_t op, std::uint32_t target);

  const Layout layout_;
  std::vector<std::uint32_t> input_begin_, input_edges_;  // the edges into each op: N + 1 and E
  // Of the run. Order and positions are by end, with producers first; so are the ops of a device.
  std::vector<std::uint8_t> device_;                        // N
  std::vector<std::uint32_t> order_, position_;             // N
  std::vector<std::uint32_t> lane_begin_, lane_, in_lane_;  // D + 1; N: the ops of each device in order; N: place in it
  std::vector<Ticks> end_, tail_;                           // N
  std::vector<Ticks> arrival_;                              // E
  // Of the chosen ops.
  std::uint32_t choice_ = 0, visit_ = 0;
  std::vector<std::uint32_t> chosen_;               // in that order
  std::vector<std::uint32_t> chosen_in_, seen_in_;  // N: choice_ of the op's last choice; visit_ of its last visit
  std::vector<Ticks> new_end_;                      // N
  Ticks longest_ = 0;
  // Scratch.
  std::vector<Ticks> free_, sent_;   // of channels; of devices
  std::vector<std::uint32_t> next_;  // for each chosen op, the place in its new device's lane of the op behind it
};

}  // namespace emplace::simulate
