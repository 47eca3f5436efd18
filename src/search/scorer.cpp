#include "scorer.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/problem/order.hpp"

namespace emplace {

namespace {
// Candidates between two looks at the clock, where there is a budget of seconds.
constexpr std::size_t piece = 32;
}  // namespace

Scorer::Scorer(const PlacerRequest& request) : request_(request), deadline_(request.seconds) {
  EMPLACE_CHECK(request.problem != nullptr && request.evaluator != nullptr);
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
    std::vector<EvaluationJob> jobs;
    for (std::size_t i = next; i < next + count; ++i) {
      Placement& candidate = candidates[i];
      if (request_.schedule != Schedule::fifo && candidate.order.empty())
        candidate.order = upward_rank_order(*request_.problem, candidate.device);
      jobs.push_back({0, &candidate});
    }
    const std::vector<Outcome> outcomes = request_.evaluator->evaluate(jobs);
    EMPLACE_CHECK(outcomes.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      if (best_.evaluations++ > 0 && !better(outcomes[i], best_.outcome)) continue;
      best_.placement = std::move(candidates[next + i]);
      best_.outcome = outcomes[i];
    }
    next += count;
  }
}

void Scorer::score(Placement candidate) {
  std::vector<Placement> one;
  one.push_back(std::move(candidate));
  score(std::move(one));
}

}  // namespace emplace
