// Which makespans are refuted because whole ops, and whole groups of ops that have to share a device, do not fit on the
// devices within windows of time.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "search/common/deadline.hpp"
#include "search/common/earliest.hpp"

namespace emplace::search {

class SlotWindows {
 public:
  SlotWindows(const Problem& problem, const std::vector<std::uint8_t>& possible, const EarliestTimes& times);

  // True only if no schedule takes `limit` or less. False if the deadline passes first.
  bool refutes(Ticks limit, const Deadline& deadline);

 private:
  struct Edge {
    std::uint32_t from, to;
    Ticks transfer;  // the least time between two devices; `never` if no route exists
  };
  // Of the ops on one device: of all, of those that cannot start before a window, cannot end after it, neither.
  struct Work {
    Ticks all = 0, starting = 0, ending = 0, inside = 0;
  };
  // Ops before (or after) another one, with the heads (tails) that are raised.
  enum class Side : std::uint8_t { before, after };

  void start(Ticks limit);
  bool join_ops_that_transfers_keep_together();
  bool raise_along_edges();
  bool raise_by_windows(Side side, const Deadline& deadline);
  [[nodiscard]] bool too_long() const;
  bool overfull_window(const Deadline& deadline);
  // The time that the busiest device needs in a window that begins at `head` and ends `tail` before the end.
  Ticks busiest(const std::vector<std::uint32_t>& ops, Ticks head, Ticks tail);
  std::uint32_t root(std::uint32_t op);
  [[nodiscard]] bool is_long(std::uint32_t op) const { return time_[op] >= short_; }

  std::size_t devices_ = 0;  // that can run anything
  std::vector<Edge> edges_;
  std::vector<std::uint32_t> order_;            // topological
  std::vector<Ticks> first_head_, first_tail_;  // N, without any limit
  std::vector<Ticks> time_;                     // N: on the fastest possible device
  std::vector<std::uint32_t> own_group_;        // N: another op of the same co-location group, or the op itself
  std::vector<std::vector<std::uint32_t>> before_,
      after_;  // N: the ops that take time among all ancestors, descendants
  // Of the present limit:
  Ticks limit_ = 0, short_ = 0;  // ops that take less than `short_` are left out of windows
  std::vector<Ticks> head_, tail_;
  std::vector<std::uint32_t> parent_;  // of the forest of ops on one device
  std::vector<Work> work_;             // N; zero between calls of busiest()
  std::vector<Ticks> items_;
};

}  // namespace emplace::search
