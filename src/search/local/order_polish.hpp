// Orders for placements that have none: a first order, and better ones by order moves.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "emplace/search/placer.hpp"
#include "search/local/order_moves.hpp"

namespace emplace::search {

class OrderPolish {
 public:
  // `schedule` must not be fifo. The problem must outlive this object.
  OrderPolish(const Problem& problem, Schedule schedule);

  // Under in-order, the order in which a `priority` run by upward rank starts the ops: the step time equals that of
  // this run, in which no device is idle while it has a ready op. Under priority, and if the placement cannot be timed,
  // the order by upward rank.
  [[nodiscard]] std::vector<std::uint32_t> first_order(const std::vector<std::uint8_t>& device);

  // Improves the order by moves on the critical path; devices do not change. Several moves of a path are evaluated
  // together, and the best is made if it is an improvement. Ends when none is, after `most` evaluations, or when `stop`
  // returns true. Returns the number of evaluations.
  std::uint64_t improve(Placement& placement, Outcome& outcome, std::uint64_t most, evaluate::Evaluator& evaluator,
                        const std::function<bool()>& stop);

 private:
  const Problem& problem_;
  const Schedule schedule_;
  std::unique_ptr<simulate::Engine> engine_;  // for the schedule
  std::unique_ptr<simulate::Engine> list_;    // for the schedule priority
  OrderMover mover_;
  simulate::Timeline timeline_;
};

}  // namespace emplace::search
