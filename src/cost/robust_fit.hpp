// Three coefficients with lower bounds, fitted to op times by robust least squares.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace emplace::cost {

inline constexpr std::size_t fit_terms = 3;
using Coefficients = std::array<double, fit_terms>;

// seconds ~ coefficients . features
struct FitRow {
  Coefficients features{};
  double seconds = 0;
};

struct FitPrior {
  Coefficients centre{};
  double weight = 0;                    // 0: none
  std::array<bool, fit_terms> fixed{};  // coefficients that keep their centre, whatever the rows say
};

// Minimises sum_i huber((t_i - p_i) / (resolution + (t_i + p_i) / 2)) + sum_j (weight (c_j / centre_j - 1))^2, with t_i
// the seconds and p_i = c . features_i, over c >= lower, by iteratively reweighted least squares. Residuals are
// relative, since ops take from microseconds to seconds. They are relative to the mean of t and p, because relative to
// t alone, predictions that are too short would cost less than those that are too long. Residuals beyond 1.345 robust
// standard deviations (1.4826 x the median of their absolute values) count linearly (Huber 1964; Holland and Welsch
// 1977). The prior determines a coefficient on which the rows have no influence, as with one row. `resolution`: seconds
// below which times are not significant. The result is deterministic.
//   `overlap` is the share of the shorter of the terms 1 and 2 that is hidden behind the longer one: with 0 the terms
// add up, with 1 only the longer one counts. Which one is longer is found anew for each row in each round.
Coefficients robust_fit(const std::vector<FitRow>& rows, const Coefficients& lower, const FitPrior& prior,
                        double resolution, double overlap = 0);

// argmin c'Ac - 2 b'c over c >= lower, A symmetric and positive semi-definite. Tries every set of coefficients that are
// at their bounds and returns the best of the solutions that satisfy all bounds.
Coefficients bounded_least_squares(const std::array<Coefficients, fit_terms>& a, const Coefficients& b,
                                   const Coefficients& lower);

}  // namespace emplace::cost
