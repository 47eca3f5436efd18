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

void Incumbent::try_placer(const std::string& method) {
  if (exhausted()) return;
  PlacerRequest request = request_;
  request.evaluations = evaluations_left();
  request.seconds = seconds_left();
  const bool is_first = best_.evaluations == 0;
  const PlacerResult found = place_with(method, request, ConfigTable("search"));
  best_.evaluations += found.evaluations;
  if (!is_first && !better(found.outcome, best_.outcome)) return;
  best_.placement = found.placement;
  best_.outcome = found.outcome;
}

void Incumbent::offer(const Placement& placement, const Outcome& outcome) {
  if (!better(outcome, best_.outcome)) return;
  best_.placement = placement;
  best_.outcome = outcome;
}

void try_quick_placers(Incumbent& incumbent) {
  for (const char* method : {"heft", "single", "contiguous", "peft", "greedy"}) incumbent.try_placer(method);
}

}  // namespace emplace
