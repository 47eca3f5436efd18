// Moves of one op to another place in the order, and those that may shorten a step: what searches for a better order
// share.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/timeline/critical_path.hpp"

namespace emplace::search {

// `op` goes to the other side of `past`. From behind it to directly before it, and the ops between them that `op`
// depends on go along, in their order; or from before it to directly behind it, and the ops between them that depend on
// `op` go along. Impossible if one of the two depends on the other.
struct OrderMove {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t op = none, past = none;

  [[nodiscard]] bool is_none() const { return op == none; }
  friend bool operator==(const OrderMove&, const OrderMove&) = default;
};

// Makes order moves in one order and takes back the last. Time: the ops between the two, and the edges of those that
// go along. The problem must outlive it.
class OrderMover {
 public:
  explicit OrderMover(const Problem& problem);

  // Learns another order: topological, every op once. Nothing can be taken back then.
  void reset(const std::vector<std::uint32_t>& order);
  // `order` is the one last learnt with the moves made since. False, and nothing changes, if the move is impossible.
  bool make(std::vector<std::uint32_t>& order, OrderMove move);
  void take_back(std::vector<std::uint32_t>& order);

  [[nodiscard]] std::uint32_t position(std::uint32_t op) const { return position_[op]; }

 private:
  bool mark_what_goes_along(std::span<const std::uint32_t> stretch, OrderMove move, bool forward);
  void write(std::vector<std::uint32_t>& order, const std::vector<std::uint32_t>& stretch);

  const Problem& problem_;
  std::vector<std::uint32_t> position_;  // N
  std::vector<std::uint32_t> marked_;    // N: serial_ where it goes along
  std::uint32_t serial_ = 0;
  std::uint32_t first_ = 0;  // of the stretch that the last move changed, and what stood there
  std::vector<std::uint32_t> stood_, stretch_;
};

// What the length of a step hangs on.
struct CriticalChoices {
  std::vector<std::uint32_t> ops;  // of the critical path, in order of time
  // A block is a stretch of the path in which each op waited for the device, or its turn, behind the one before. Only
  // if some op of a block gets before its first or behind its last can a step with the same devices become shorter
  // (Brucker, Jurisch, Sievers 1994, for job shops; the neighbourhood N6 of Balas and Vazacopoulos 1998). Where a
  // transfer waited for a channel behind another of the same device, its producer passes the other's.
  std::vector<OrderMove> moves;
};

// `timeline` as in critical_path(). Empty where the outcome is not timed.
CriticalChoices critical_choices(const Problem& problem, const Placement& placement, Schedule schedule,
                                 const simulate::Timeline& timeline);

}  // namespace emplace::search
