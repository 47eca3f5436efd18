#include "search/local/order_polish.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "problem/order.hpp"

namespace emplace::search {

OrderPolish::OrderPolish(const Problem& problem, Schedule schedule)
    : problem_(problem),
      schedule_(schedule),
      engine_(simulate::make_exact_engine(problem, schedule)),
      list_(simulate::make_exact_engine(problem, Schedule::priority)),
      mover_(problem) {
  EMPLACE_CHECK(schedule != Schedule::fifo);
}

std::vector<std::uint32_t> OrderPolish::first_order(const std::vector<std::uint8_t>& device) {
  Placement placement{device, upward_rank_order(problem_, device)};
  if (schedule_ == Schedule::priority) return placement.order;
  if (!list_->evaluate(placement, {.usage = nullptr, .timeline = &timeline_}).timed()) return placement.order;
  std::ranges::stable_sort(placement.order, {}, [&](std::uint32_t op) { return timeline_.op_start[op]; });
  return placement.order;
}

std::uint64_t OrderPolish::improve(Placement& placement, Outcome& outcome, std::uint64_t most,
                                   evaluate::Evaluator& evaluator, const std::function<bool()>& stop) {
  constexpr std::uint64_t rounds = 8, least = 16;
  const std::uint64_t a_round = std::max(least, most / rounds);
  std::uint64_t spent = 0;
  while (spent < most && outcome.timed() && !stop()) {
    engine_->evaluate(placement, {.usage = nullptr, .timeline = &timeline_});
    mover_.reset(placement.order);
    std::vector<Placement> neighbours;
    const std::vector<OrderMove> moves = critical_choices(problem_, placement, schedule_, timeline_).moves;
    const std::uint64_t wanted = std::min({std::uint64_t{moves.size()}, a_round, most - spent});
    for (std::uint64_t i = 0; i < wanted; ++i) {  // spread over the path
      if (!mover_.make(placement.order, moves[i * moves.size() / wanted])) continue;
      neighbours.push_back(placement);
      mover_.take_back(placement.order);
    }
    if (neighbours.empty()) break;
    std::vector<evaluate::EvaluationJob> jobs;
    for (const Placement& neighbour : neighbours) jobs.push_back({0, &neighbour});
    const std::vector<Outcome> outcomes = evaluator.evaluate(jobs);
    EMPLACE_CHECK(outcomes.size() == jobs.size());
    spent += jobs.size();
    const auto best = std::ranges::min_element(outcomes, better);
    if (!better(*best, outcome)) break;
    outcome = *best;
    placement = std::move(neighbours[static_cast<std::size_t>(best - outcomes.begin())]);
  }
  return spent;
}

}  // namespace emplace::search
