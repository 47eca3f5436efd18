// Orders for placements that bring none: a first one, and a better one by moves of the order alone.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "emplace/search/placer.hpp"
#include "search/local/order_moves.hpp"

namespace emplace::search {

class OrderPolish {
 public:
  // `schedule` is not fifo. The problem must outlive it.
  OrderPolish(const Problem& problem, Schedule schedule);

  // In-order, how a `priority` run by upward rank starts the ops: its step time is that of that run, in which no device
  // idles beside a ready op. By upward rank under priority, and where the placement cannot be timed.
  [[nodiscard]] std::vector<std::uint32_t> first_order(const std::vector<std::uint8_t>& device);

  // Improves the order by moves on the critical path, the devices stay: some moves of a path are evaluated together,
  // the best is made if it is an improvement, until none is or `most` evaluations are spent or `stop` says so. Returns
  // how many were spent.
  std::uint64_t improve(Placement& placement, Outcome& outcome, std::uint64_t most, evaluate::Evaluator& evaluator,
                        const std::function<bool()>& stop);

 private:
  const Problem& problem_;
  const Schedule schedule_;
  std::unique_ptr<simulate::Engine> engine_;  // by the schedule
  std::unique_ptr<simulate::Engine> list_;    // by priority
  OrderMover mover_;
  simulate::Timeline timeline_;
};

}  // namespace emplace::search
