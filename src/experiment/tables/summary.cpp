// Medians of cells, their intervals, and the similarity to the published table.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/statistics.hpp"
#include "cost/calibrate.hpp"
#include "emplace/base/error.hpp"
#include "experiment/tables/reproduction.hpp"

namespace emplace::experiment {

namespace {

constexpr double outside = 0.025;  // the part of the bootstrap distribution outside of the interval, at each end

// The probability that at least `least` of n draws succeed, each with probability p.
double at_least(std::size_t n, std::size_t least, double p) {
  double sum = 0;
  for (std::size_t k = least; k <= n; ++k) {
    double term = 1;  // binomial(n, k) p^k (1 - p)^(n - k)
    for (std::size_t i = 1; i <= k; ++i) term *= static_cast<double>(n - k + i) / static_cast<double>(i) * p;
    for (std::size_t i = 0; i < n - k; ++i) term *= 1 - p;
    sum += term;
  }
  return sum;
}

// The smallest of the sorted values that the `position`-th smallest value of a resample does not exceed with at least
// `probability`.
double quantile_of(const std::vector<double>& sorted, std::size_t position, double probability) {
  const std::size_t n = sorted.size();
  std::size_t below = 0, enough = n;  // the probability increases with the value
  while (enough - below > 1) {
    const std::size_t k = (below + enough) / 2;
    (at_least(n, position + 1, static_cast<double>(k) / static_cast<double>(n)) >= probability ? enough : below) = k;
  }
  return sorted[enough - 1];
}

// The published (our) time of a cell, infinity if it is out of memory; none if there is nothing to compare.
std::optional<double> published_time(const CellFigures& cell) {
  if (!cell.published) return std::nullopt;
  return cell.published->seconds.value_or(std::numeric_limits<double>::infinity());
}
std::optional<double> our_time(const CellFigures& cell) {
  if (cell.status == CellStatus::ok) return cell.ours;
  if (cell.status == CellStatus::oom) return std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// METHOD:tuned of this row if it has one with a time, else METHOD itself.
const CellFigures& tuned_or_same(const CellFigures& cell, const RowFigures& row) {
  const auto tuned = std::ranges::find(row.cells, cell.method + ":tuned", &CellFigures::method);
  return tuned != row.cells.end() && our_time(*tuned) ? *tuned : cell;
}

int order(double a, double b) { return a < b ? -1 : a > b ? 1 : 0; }

// Pairs of methods with different published times that have the same order in `ours`.
std::size_t pairs_that_agree(const std::vector<double>& published, const std::vector<double>& ours) {
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      if (published[i] != published[k]) pairs += order(published[i], published[k]) == order(ours[i], ours[k]) ? 1 : 0;
  return pairs;
}

}  // namespace

const char* name_of(CellStatus status) {
  switch (status) {
    case CellStatus::ok: return "ok";
    case CellStatus::oom: return "OOM";
    case CellStatus::infeasible: return "infeasible";
    case CellStatus::unfit: return "unfit";
    case CellStatus::missing: break;
  }
  return "missing";
}

const char* status_of(const Published& published) {
  if (!published.seconds) return "OOM";
  return published.confirmed ? "confirmed" : "unconfirmed";
}

MedianInterval median_interval(std::vector<double> values) {
  EMPLACE_CHECK(!values.empty());
  std::ranges::sort(values);
  const std::size_t lower = (values.size() - 1) / 2, upper = values.size() / 2;
  return {median(values), quantile_of(values, lower, outside), quantile_of(values, upper, 1 - outside)};
}

Fidelity fidelity_of(const std::vector<RowFigures>& rows) {
  Fidelity fidelity;
  std::vector<double> errors;
  std::size_t tuned_agree = 0;
  bool any_tuned = false;
  for (const RowFigures& row : rows) {
    std::vector<double> published, ours, tuned;
    for (const CellFigures& cell : row.cells) {
      const auto then = published_time(cell), now = our_time(cell);
      if (!then || !now) continue;
      if (cell.calibrates) continue;
      if (std::isinf(*then) || std::isinf(*now)) {
        ++fidelity.oom;
        fidelity.oom_agree += std::isinf(*then) && std::isinf(*now) ? 1 : 0;
      }
      published.push_back(*then);
      ours.push_back(*now);
      const CellFigures& better = tuned_or_same(cell, row);
      tuned.push_back(our_time(better).value());
      any_tuned = any_tuned || &better != &cell;
      if (std::isfinite(*then) && std::isfinite(*now)) errors.push_back(std::abs(*now / *then - 1));
    }
    fidelity.orderings += pairs_that_agree(published, published);
    fidelity.orderings_agree += pairs_that_agree(published, ours);
    tuned_agree += pairs_that_agree(published, tuned);
    std::optional<double> correlation;
    if (ours.size() >= 3)
      if (const double rho = cost::spearman(published, ours); std::isfinite(rho)) correlation = rho;
    fidelity.rank_correlation.push_back(correlation);
  }
  if (any_tuned) fidelity.tuned_agree = tuned_agree;
  if (!errors.empty()) fidelity.relative_error = median(errors);
  return fidelity;
}

}  // namespace emplace::experiment
