#include "incumbent.hpp"

#include <algorithm>
#include <limits>

namespace emplace {

Incumbent::Incumbent(const PlacerRequest& request, std::uint64_t default_evaluations)
    : request_(request),
      most_evaluations_(request.evaluations ? *request.evaluations
                        : request.seconds   ? std::numeric_limits<std::uint64_t>::max()
                                            : default_evaluations),
      deadline_(request.seconds) {}

bool Incumbent::exhausted() const {
  return best_.evaluations > 0 && (best_.evaluations >= most_evaluations_ || deadline_.passed());
}

double Incumbent::progress() const {
  const double by_count = static_cast<double>(best_.evaluations) / static_cast<double>(most_evaluations_);
  const double by_clock = request_.seconds ? 1 - deadline_.left() / *request_.seconds : 0;
  return std::clamp(std::max(by_count, by_clock), 0.0, 1.0);
}

void Incumbent::begin() {
  if (request_.start == nullptr) {
    for (const char* method : {"heft", "single", "contiguous", "peft", "greedy"}) try_placer(method);
    return;
  }
  const EvaluationJob job{0, request_.start};
  best_.outcome = request_.evaluator->evaluate({&job, 1}).front();
  best_.placement = *request_.start;
  best_.evaluations = 1;
}

void Incumbent::try_placer(const std::string& method, double share) {
  if (exhausted()) return;
  PlacerRequest request = request_;
  const auto part = static_cast<std::uint64_t>(share * static_cast<double>(evaluations_left()));
  request.evaluations = std::max<std::uint64_t>(1, share < 1 ? part : evaluations_left());
  if (request_.seconds) request.seconds = std::max(share * deadline_.left(), 1e-9);
  const bool is_first = best_.evaluations == 0;
  if (!is_first) request.start = &best_.placement;
  const PlacerResult found = place_with(method, request, ConfigTable("search"));
  best_.evaluations += found.evaluations;
  best_.lower_bound = std::max(best_.lower_bound, found.lower_bound);
  const bool is_new_best = is_first || better(found.outcome, best_.outcome);
  best_.steps.push_back({method, deadline_.elapsed(), best_.evaluations, found.outcome, is_new_best});
  if (is_new_best) {
    best_.placement = found.placement;
    best_.outcome = found.outcome;
  }
  if (found.proved_optimal && found.outcome == best_.outcome) best_.proved_optimal = true;
}

void Incumbent::offer(const Placement& placement, const Outcome& outcome) {
  if (!better(outcome, best_.outcome)) return;
  best_.placement = placement;
  best_.outcome = outcome;
}

}  // namespace emplace
