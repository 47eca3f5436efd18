#include "emplace/search/scorer.hpp"

#include <algorithm>
#include <optional>

#include "emplace/base/error.hpp"
#include "problem/order.hpp"
#include "search/common/deadline.hpp"
#include "search/local/order_polish.hpp"

namespace emplace::search {

namespace {
// Number of evaluations for improving an order: at most a part of those left, and fewer for larger problems.
std::uint64_t evaluations_for_order(const Problem& problem, const std::optional<std::uint64_t>& left) {
  constexpr std::uint64_t op_runs = 200'000, least = 16, most = 400, part = 4;
  const std::uint64_t wanted = std::clamp(op_runs / problem.op_count(), least, most);
  return left ? std::min(wanted, *left / part) : wanted;
}
}  // namespace

struct Scorer::Parts {
  explicit Parts(const PlacerRequest& of) : request(of), deadline(of.seconds, of.stop) {}

  // The pipeline's load does not depend on an order.
  [[nodiscard]] std::vector<std::uint32_t> order_for(const std::vector<std::uint8_t>& device) {
    return polish ? polish->first_order(device) : upward_rank_order(*request.problem, device);
  }

  // Tells the caller how far the search is, a few times per second.
  void tell() {
    constexpr double seconds_between = 0.1;
    if (!request.on_progress || deadline.elapsed() - told < seconds_between) return;
    told = deadline.elapsed();
    const double by_count = request.evaluations
                                ? static_cast<double>(best.evaluations) /
                                      static_cast<double>(std::max<std::uint64_t>(1, *request.evaluations))
                                : 0;
    const double by_clock = request.seconds ? 1 - deadline.left() / *request.seconds : 0;
    request.on_progress({{}, std::clamp(std::max(by_count, by_clock), 0.0, 1.0), best.evaluations, best.outcome});
  }

  PlacerRequest request;
  Deadline deadline;
  double told = 0;                    // when, in seconds since the start
  std::optional<OrderPolish> polish;  // for schedules and objectives that use an order
  PlacerResult best;
  bool best_brought_order = true;
};

Scorer::Scorer(const PlacerRequest& request) {
  EMPLACE_CHECK(request.problem != nullptr && request.evaluator != nullptr);
  parts_ = std::make_unique<Parts>(request);
  if (request.schedule != Schedule::fifo && request.objective == Objective::step)
    parts_->polish.emplace(*request.problem, request.schedule);
}
Scorer::~Scorer() = default;

std::uint64_t Scorer::evaluations() const { return parts_->best.evaluations; }
const PlacerResult& Scorer::best() const { return parts_->best; }

bool Scorer::exhausted() const {
  if (parts_->best.evaluations == 0) return false;
  if (parts_->request.evaluations && parts_->best.evaluations >= *parts_->request.evaluations) return true;
  return parts_->deadline.passed();
}

std::uint64_t Scorer::affordable(std::uint64_t wanted) const {
  return parts_->request.evaluations
             ? std::min(wanted,
                        *parts_->request.evaluations - std::min(*parts_->request.evaluations, parts_->best.evaluations))
             : wanted;
}

void Scorer::score(std::vector<Placement> candidates) {
  std::size_t next = 0;
  while (next < candidates.size() && !exhausted()) {
    const std::size_t left = candidates.size() - next;
    const std::size_t piece = evaluations_between_checks(parts_->request);
    const std::size_t count =
        affordable(parts_->request.seconds ? std::min(left, parts_->best.evaluations == 0 ? 1 : piece) : left);
    std::vector<evaluate::EvaluationJob> jobs;
    std::vector<char> brought_order;
    for (std::size_t i = next; i < next + count; ++i) {
      Placement& candidate = candidates[i];
      brought_order.push_back(parts_->request.schedule == Schedule::fifo || !candidate.order.empty());
      if (!brought_order.back()) candidate.order = parts_->order_for(candidate.device);
      jobs.push_back({0, &candidate});
    }
    const std::vector<Outcome> outcomes = parts_->request.evaluator->evaluate(jobs);
    EMPLACE_CHECK(outcomes.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      if (parts_->best.evaluations++ > 0 && !better(outcomes[i], parts_->best.outcome)) continue;
      parts_->best.placement = std::move(candidates[next + i]);
      parts_->best.outcome = outcomes[i];
      parts_->best_brought_order = brought_order[i] != 0;
    }
    next += count;
    parts_->tell();
  }
}

PlacerResult Scorer::result() {
  if (parts_->polish && !parts_->best_brought_order && !exhausted()) {
    parts_->best_brought_order = true;
    std::optional<std::uint64_t> left;
    if (parts_->request.evaluations) left = *parts_->request.evaluations - parts_->best.evaluations;
    parts_->best.evaluations += parts_->polish->improve(
        parts_->best.placement, parts_->best.outcome, evaluations_for_order(*parts_->request.problem, left),
        *parts_->request.evaluator, [this] { return parts_->deadline.passed(); });
  }
  return parts_->best;
}

void Scorer::score(Placement candidate) {
  std::vector<Placement> one;
  one.push_back(std::move(candidate));
  score(std::move(one));
}

}  // namespace emplace::search
