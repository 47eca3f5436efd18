// Moves of one op to another position in the order, and the choice of those that may shorten a step. For all searches
// for a better order.
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

// `op` moves to the other side of `past`. If it is behind `past`, it moves to directly before it, together with the ops
// between them on which it depends, which keep their order. If it is before `past`, it moves to directly behind it,
// together with the ops between them that depend on it. Impossible if one of the two depends on the other.
struct OrderMove {
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t op = none, past = none;

  [[nodiscard]] bool is_none() const { return op == none; }
  friend bool operator==(const OrderMove&, const OrderMove&) = default;
};

// Makes order moves in one order, and can undo the last one. Takes time linear in the ops between the two, and the
// edges of those that move along. The problem must outlive it.
class OrderMover {
 public:
  explicit OrderMover(const Problem& problem);

  // Sets another order, which must be topological with every op once. The last move cannot be undone after that.
  void reset(const std::vector<std::uint32_t>& order);
  // `order` must be the order of the last reset() with the moves made since. Returns false without a change if the move
  // is impossible.
  bool make(std::vector<std::uint32_t>& order, OrderMove move);
  void take_back(std::vector<std::uint32_t>& order);

  [[nodiscard]] std::uint32_t position(std::uint32_t op) const { return position_[op]; }

 private:
  bool mark_what_goes_along(std::span<const std::uint32_t> stretch, OrderMove move, bool forward);
  void write(std::vector<std::uint32_t>& order, const std::vector<std::uint32_t>& stretch);

  const Problem& problem_;
  std::vector<std::uint32_t> position_;  // N
  std::vector<std::uint32_t> marked_;    // N: serial_ if the op moves along
  std::uint32_t serial_ = 0;
  std::uint32_t first_ = 0;  // first position that the last move changed; stood_: the ops that were there
  std::vector<std::uint32_t> stood_, stretch_;
};

// What an op of the critical path takes, and what it waited for.
struct CriticalOp {
  Ticks duration;
  Ticks queued;  // after its inputs had arrived
  Ticks sent;    // transfers on the path between the op before it and this one
};

// The critical ops of a step, and the moves of them that may shorten it.
struct CriticalChoices {
  std::vector<std::uint32_t> ops;  // of the critical path, in order of time
  std::vector<CriticalOp> times;   // of `ops`
  // A block is a part of the path in which each op waited for the op before it to free the device, or for its turn.
  // With the same devices, the step can become shorter only if an op of some block moves before its first op or behind
  // its last (Brucker, Jurisch, Sievers 1994, for job shops; the neighbourhood N6 of Balas and Vazacopoulos 1998). If a
  // transfer waited for a channel behind another transfer of the same device, its producer passes the other one's.
  std::vector<OrderMove> moves;
  // Producers and consumers of the tensors that are sent on the path; some of them are not on it, because it goes on
  // with another transfer of the same channel.
  std::vector<std::uint32_t> ends;
};

// `timeline` as in critical_path(). Empty if the outcome is not timed.
CriticalChoices critical_choices(const Problem& problem, const Placement& placement, Schedule schedule,
                                 const simulate::Timeline& timeline);

}  // namespace emplace::search
