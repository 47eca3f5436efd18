#include "search/common/scorer.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "problem/order.hpp"

namespace emplace::search {

namespace {
// Number of candidates evaluated between two checks of the clock, with a budget of seconds.
constexpr std::size_t piece = 32;

// Number of evaluations for improving an order: at most a part of those left, and fewer for larger problems.
std::uint64_t evaluations_for_order(const Problem& problem, const std::optional<std::uint64_t>& left) {
  constexpr std::uint64_t op_runs = 200'000, least = 16, most = 400, part = 4;
  const std::uint64_t wanted = std::clamp(op_runs / problem.op_count(), least, most);
  return left ? std::min(wanted, *left / part) : wanted;
}
}  // namespace

Scorer::Scorer(const PlacerRequest& request) : request_(request), deadline_(request.seconds, request.stop) {
  EMPLACE_CHECK(request.problem != nullptr && request.evaluator != nullptr);
  if (request.schedule != Schedule::fifo && request.objective == Objective::step)
    polish_.emplace(*request.problem, request.schedule);
}

bool Scorer::exhausted() const {
  if (best_.evaluations == 0) return false;
  if (request_.evaluations && best_.evaluations >= *request_.evaluations) return true;
  return deadline_.passed();
}

std::uint64_t Scorer::affordable(std::uint64_t wanted) const {
  return request_.evaluations
             ? std::min(wanted, *request_.evaluations - std::min(*request_.evaluations, best_.evaluations))
             : wanted;
}

void Scorer::score(std::vector<Placement> candidates) {
  std::size_t next = 0;
  while (next < candidates.size() && !exhausted()) {
    const std::size_t left = candidates.size() - next;
    const std::size_t count = affordable(request_.seconds ? std::min(left, best_.evaluations == 0 ? 1 : piece) : left);
    std::vector<evaluate::EvaluationJob> jobs;
    std::vector<char> brought_order;
    for (std::size_t i = next; i < next + count; ++i) {
      Placement& candidate = candidates[i];
      brought_order.push_back(request_.schedule == Schedule::fifo || !candidate.order.empty());
      if (!brought_order.back()) candidate.order = order_for(candidate.device);
      jobs.push_back({0, &candidate});
    }
    const std::vector<Outcome> outcomes = request_.evaluator->evaluate(jobs);
    EMPLACE_CHECK(outcomes.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      if (best_.evaluations++ > 0 && !better(outcomes[i], best_.outcome)) continue;
      best_.placement = std::move(candidates[next + i]);
      best_.outcome = outcomes[i];
      best_brought_order_ = brought_order[i] != 0;
    }
    next += count;
  }
}

// The pipeline's load does not depend on an order.
std::vector<std::uint32_t> Scorer::order_for(const std::vector<std::uint8_t>& device) {
  return polish_ ? polish_->first_order(device) : upward_rank_order(*request_.problem, device);
}

PlacerResult Scorer::result() {
  if (polish_ && !best_brought_order_ && !exhausted()) {
    best_brought_order_ = true;
    std::optional<std::uint64_t> left;
    if (request_.evaluations) left = *request_.evaluations - best_.evaluations;
    best_.evaluations +=
        polish_->improve(best_.placement, best_.outcome, evaluations_for_order(*request_.problem, left),
                         *request_.evaluator, [this] { return deadline_.passed(); });
  }
  return best_;
}

void Scorer::score(Placement candidate) {
  std::vector<Placement> one;
  one.push_back(std::move(candidate));
  score(std::move(one));
}

}  // namespace emplace::search
