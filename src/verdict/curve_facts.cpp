#include <algorithm>
#include <cmath>
#include <span>

#include "verdict/verdict.hpp"

namespace emplace::verdict {

namespace {

constexpr std::size_t fewest_updates = 10;

// The median of the finite values, NaN if there are none.
double median_of(std::span<const double> values) {
  std::vector<double> finite;
  std::ranges::copy_if(values, std::back_inserter(finite), [](double value) { return std::isfinite(value); });
  if (finite.empty()) return std::nan("");
  std::ranges::sort(finite);
  return finite[finite.size() / 2];
}

}  // namespace

CurveFacts curve_facts(const Curve& curve) {
  constexpr double fell = 0.01, equal = 1e-3;
  CurveFacts facts;
  const auto& [best, low, median, high] = curve;
  const std::size_t updates = best.size();
  facts.too_short = updates < fewest_updates;
  if (facts.too_short || median.size() != updates || low.size() != updates || high.size() != updates) return facts;
  const std::size_t tenth = updates / 10;
  std::vector<double> spread;
  for (std::size_t u = updates - tenth; u < updates; ++u) spread.push_back((high[u] - low[u]) / median[u]);
  facts.converged = median_of(spread) < equal;
  const double before = best[updates - updates / 5 - 1], at_end = best.back();
  const bool has_fallen = std::isfinite(at_end) && (!std::isfinite(before) || at_end < (1 - fell) * before);
  facts.still_falling = has_fallen && !facts.converged;
  const double first = median_of(std::span(median).first(tenth)), last = median_of(std::span(median).last(tenth));
  facts.never_learned = !facts.converged && last >= first;
  return facts;
}

}  // namespace emplace::verdict
