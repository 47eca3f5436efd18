#include "cost/robust_fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/statistics.hpp"

namespace emplace::cost {

namespace {

double predicted(const Coefficients& c, const FitRow& row) {
  double sum = 0;
  for (std::size_t j = 0; j < fit_terms; ++j) sum += c[j] * row.features[j];
  return sum;
}

// The features of a row of which the shorter of the terms 1 and 2 is hidden by `overlap`.
Coefficients exposed_features(const Coefficients& c, const FitRow& row, double overlap) {
  Coefficients features = row.features;
  features[c[1] * features[1] < c[2] * features[2] ? 1 : 2] *= 1 - overlap;
  return features;
}

// Solves the equations of the `free` coefficients, with the others fixed at `c`, by elimination with pivots; returns
// nothing if the equations do not determine them.
std::optional<Coefficients> solve_free(const std::array<Coefficients, fit_terms>& a, const Coefficients& b,
                                       const std::array<bool, fit_terms>& free, Coefficients c) {
  std::array<std::array<double, fit_terms + 1>, fit_terms> m{};
  std::array<std::size_t, fit_terms> index{};
  std::size_t n = 0;
  for (std::size_t j = 0; j < fit_terms; ++j)
    if (free[j]) index[n++] = j;
  for (std::size_t r = 0; r < n; ++r) {
    m[r][n] = b[index[r]];
    for (std::size_t k = 0; k < fit_terms; ++k)
      if (!free[k]) m[r][n] -= a[index[r]][k] * c[k];
    for (std::size_t k = 0; k < n; ++k) m[r][k] = a[index[r]][index[k]];
  }
  for (std::size_t p = 0; p < n; ++p) {
    std::size_t best = p;
    for (std::size_t r = p + 1; r < n; ++r)
      if (std::abs(m[r][p]) > std::abs(m[best][p])) best = r;
    std::swap(m[p], m[best]);
    if (!(std::abs(m[p][p]) > 1e-12)) return std::nullopt;  // relative, since the caller has scaled the columns
    for (std::size_t r = p + 1; r < n; ++r) {
      const double factor = m[r][p] / m[p][p];
      for (std::size_t k = p; k <= n; ++k) m[r][k] -= factor * m[p][k];
    }
  }
  for (std::size_t p = n; p-- > 0;) {
    double value = m[p][n];
    for (std::size_t k = p + 1; k < n; ++k) value -= m[p][k] * c[index[k]];
    c[index[p]] = value / m[p][p];
  }
  return c;
}

}  // namespace

Coefficients bounded_least_squares(const std::array<Coefficients, fit_terms>& a, const Coefficients& b,
                                   const Coefficients& lower) {
  Coefficients best = lower;
  double best_value = std::numeric_limits<double>::infinity();
  for (unsigned set = 0; set < (1u << fit_terms); ++set) {
    std::array<bool, fit_terms> free{};
    for (std::size_t j = 0; j < fit_terms; ++j) free[j] = (set >> j & 1u) != 0;
    const auto c = solve_free(a, b, free, lower);
    if (!c) continue;
    double value = 0;
    bool respected = true;
    for (std::size_t j = 0; j < fit_terms; ++j) {
      respected = respected && (*c)[j] >= lower[j];
      value -= 2 * b[j] * (*c)[j];
      for (std::size_t k = 0; k < fit_terms; ++k) value += (*c)[j] * a[j][k] * (*c)[k];
    }
    if (!respected || !(value < best_value)) continue;
    best_value = value;
    best = *c;
  }
  return best;
}

Coefficients robust_fit(const std::vector<FitRow>& rows, const Coefficients& lower, const FitPrior& prior,
                        double resolution, double overlap) {
  constexpr int most_rounds = 100;
  constexpr double huber = 1.345, to_deviation = 1.4826, smallest_deviation = 1e-3;
  // Columns differ by many powers of ten (1, seconds at peak, bytes), so each is scaled to a root mean square of 1.
  Coefficients scale{};
  for (const FitRow& row : rows)
    for (std::size_t j = 0; j < fit_terms; ++j) {
      const double relative = row.features[j] / (row.seconds + resolution);
      scale[j] += relative * relative / static_cast<double>(rows.size());
    }
  for (double& s : scale) s = s > 0 ? std::sqrt(s) : 1;
  Coefficients scaled_lower{};
  for (std::size_t j = 0; j < fit_terms; ++j) scaled_lower[j] = lower[j] * scale[j];

  std::vector<double> weights(rows.size(), 1), sizes(rows.size()), sigmas(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) sigmas[i] = rows[i].seconds + resolution;
  // The rows as the present round sees them: with nothing hidden at first if there is no prior to start from.
  std::vector<FitRow> seen = rows;
  const auto hide = [&](const Coefficients& at) {
    if (overlap > 0)
      for (std::size_t i = 0; i < rows.size(); ++i) seen[i].features = exposed_features(at, rows[i], overlap);
  };
  if (prior.weight > 0) hide(prior.centre);
  Coefficients c = lower;
  for (int round = 0; round < most_rounds; ++round) {
    std::array<Coefficients, fit_terms> a{};
    Coefficients b{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double sigma = sigmas[i];
      Coefficients x{};
      double rest = seen[i].seconds;  // what the coefficients that are not fixed have to explain
      for (std::size_t j = 0; j < fit_terms; ++j)
        if (prior.fixed[j])
          rest -= prior.centre[j] * seen[i].features[j];
        else
          x[j] = seen[i].features[j] / (sigma * scale[j]);
      for (std::size_t j = 0; j < fit_terms; ++j) {
        b[j] += weights[i] * x[j] * rest / sigma;
        for (std::size_t k = 0; k < fit_terms; ++k) a[j][k] += weights[i] * x[j] * x[k];
      }
    }
    for (std::size_t j = 0; j < fit_terms; ++j) {
      if (!(prior.weight > 0) || !(prior.centre[j] > 0) || prior.fixed[j]) continue;
      const double x = prior.weight / (prior.centre[j] * scale[j]);
      a[j][j] += x * x;
      b[j] += x * prior.weight;
    }
    const Coefficients scaled = bounded_least_squares(a, b, scaled_lower);
    Coefficients next{};
    double change = 0;
    for (std::size_t j = 0; j < fit_terms; ++j) {
      next[j] = std::max(lower[j], prior.fixed[j] ? prior.centre[j] : scaled[j] / scale[j]);
      change = std::max(change, std::abs(next[j] - c[j]) / std::max(std::abs(next[j]), 1e-300));
    }
    c = next;
    if (round > 0 && change < 1e-9) break;
    hide(c);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double guess = predicted(c, seen[i]);
      sigmas[i] = 0.5 * (rows[i].seconds + guess) + resolution;
      sizes[i] = std::abs(rows[i].seconds - guess) / sigmas[i];
    }
    const double limit = huber * std::max(smallest_deviation, to_deviation * median(sizes));
    for (std::size_t i = 0; i < rows.size(); ++i) weights[i] = sizes[i] <= limit ? 1 : limit / sizes[i];
  }
  return c;
}

}  // namespace emplace::cost
