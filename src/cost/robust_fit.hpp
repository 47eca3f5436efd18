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
  double weight = 0;  // 0: none
};

// Minimises sum_i huber((t_i - p_i) / (resolution + (t_i + p_i) / 2)) + sum_j (weight (c_j / centre_j - 1))^2, with t_i
// the seconds and p_i = c . features_i, over c >= lower, by iteratively reweighted least squares. Residuals are
// relative, since ops last from microseconds to seconds, and to the mean of both sides, since relative to t alone too
// short predictions would be the cheaper ones. Beyond 1.345 robust standard deviations (1.4826 x the median of their
// sizes) they count linearly (Huber 1964; Holland and Welsch 1977). The prior keeps a coefficient where the rows say
// nothing of it, as with one row. `resolution`: seconds below which times mean nothing. Deterministic.
Coefficients robust_fit(const std::vector<FitRow>& rows, const Coefficients& lower, const FitPrior& prior,
                        double resolution);

// argmin c'Ac - 2 b'c over c >= lower, A symmetric and positive semi-definite: tries every set of coefficients that
// stand at their bounds and keeps the best of the solutions that respect them.
Coefficients bounded_least_squares(const std::array<Coefficients, fit_terms>& a, const Coefficients& b,
                                   const Coefficients& lower);

}  // namespace emplace::cost
