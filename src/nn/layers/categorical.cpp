#include "nn/layers/categorical.hpp"

#include <cmath>
#include <limits>

#include "emplace/base/error.hpp"
#include "nn/kernels/kernels.hpp"

namespace emplace::nn {

namespace {

// p = exp(s - max) / sum; H = log sum - sum p (s - max). A term with p = 0 is 0, also where s is -infinity.
template <class T>
void normalize_row(std::span<const T> scores, std::span<const std::uint8_t> allowed, std::span<T> p, double& entropy,
                   double& log_normalizer) {
  const SoftmaxSums<T> sums =
      kernels<T>().softmax(scores.data(), allowed.empty() ? nullptr : allowed.data(), p.data(), p.size());
  // This also fails for a row without an allowed column.
  EMPLACE_CHECK(std::isfinite(sums.largest) && std::isfinite(sums.sum),
                "a row of logits without any allowed column, or with one of NaN or infinity");
  const T inverse = static_cast<T>(1 / sums.sum);
  for (T& value : p) value *= inverse;
  log_normalizer = sums.largest + std::log(sums.sum);
  entropy = std::log(sums.sum) - sums.along / sums.sum;
}

}  // namespace

template <class T>
double Categorical<T>::log_probability(std::size_t row, std::size_t column) const {
  EMPLACE_CHECK(row < scores.rows && column < scores.columns);
  if (!allowed.empty() && allowed[row * scores.columns + column] == 0) return -std::numeric_limits<double>::infinity();
  return static_cast<double>(scores(row, column)) - log_normalizer[row];
}

template <class T>
Categorical<T> categorical(Tape<T>& tape, Var logits, std::span<const std::uint8_t> allowed) {
  const Matrix<const T> scores = tape.value(logits);
  EMPLACE_CHECK(scores.columns > 0, "logits without columns");
  EMPLACE_CHECK(allowed.empty() || allowed.size() == scores.size(), "{} x {} logits and {} masks", scores.rows,
                scores.columns, allowed.size());
  const Matrix<T> probability = tape.matrix(scores.rows, scores.columns);
  const std::span<double> entropy = tape.template array<double>(scores.rows);
  const std::span<double> log_normalizer = tape.template array<double>(scores.rows);
  for (std::size_t r = 0; r < scores.rows; ++r)
    normalize_row<T>(scores.row(r), allowed.empty() ? allowed : allowed.subspan(r * scores.columns, scores.columns),
                     probability.row(r), entropy[r], log_normalizer[r]);
  return {logits, scores, probability, entropy, log_normalizer, allowed};
}

namespace {

// The gradients of a saturated policy become denormal floats, with which a product takes the processor ten times as
// long. Such small values do not change any parameter, so they are set to 0.
template <class T>
void flush_small(std::span<T> d) {
  constexpr auto least = static_cast<T>(1e-24);
  for (T& value : d) value = std::abs(value) < least ? T{0} : value;
}

// d logits -= p (total + entropy_weight (log p + H)) of one row.
template <class T>
void seed_row(const Categorical<T>& rows, std::size_t r, double total, double entropy_weight, std::span<T> d) {
  // log p = (score - shift) - (log normalizer - shift): both differences are small, however large the logits are.
  const auto shift = static_cast<T>(rows.log_normalizer[r]);
  const double rest = rows.log_normalizer[r] - static_cast<double>(shift);
  const auto offset = static_cast<T>(total + entropy_weight * (rows.entropy[r] - rest));
  kernels<T>().softmax_backward(rows.scores.row(r).data(), rows.probability.row(r).data(), shift, offset,
                                static_cast<T>(entropy_weight), d.data(), d.size());
}

}  // namespace

template <class T>
void seed(Tape<T>& tape, const Categorical<T>& rows, std::span<const std::uint8_t> action,
          std::span<const double> coefficient, double entropy_weight) {
  const Matrix<T> d = tape.gradient(rows.logits);
  EMPLACE_CHECK(action.size() == d.rows && coefficient.size() == d.rows, "{} actions, {} coefficients, {} rows",
                action.size(), coefficient.size(), d.rows);
  for (std::size_t r = 0; r < d.rows; ++r) {
    EMPLACE_CHECK(action[r] < d.columns && std::isfinite(rows.log_probability(r, action[r])),
                  "action {} of row {} is out of range or forbidden", action[r], r);
    seed_row<T>(rows, r, coefficient[r], entropy_weight, d.row(r));
    d(r, action[r]) += static_cast<T>(coefficient[r]);
  }
  flush_small(d.all());
}

template <class T>
void seed_folded(Tape<T>& tape, const Categorical<T>& rows, Matrix<const T> weight, double entropy_weight) {
  const Matrix<T> d = tape.gradient(rows.logits);
  EMPLACE_CHECK(weight.shape() == d.shape());
  for (std::size_t r = 0; r < d.rows; ++r) {
    double total = 0;
    for (const T w : weight.row(r)) total += w;
    seed_row<T>(rows, r, total, entropy_weight, d.row(r));
    for (std::size_t j = 0; j < d.columns; ++j) d(r, j) += weight(r, j);
  }
  flush_small(d.all());
}

#define EMPLACE_INSTANTIATE(T)                                                                                         \
  template struct Categorical<T>;                                                                                      \
  template Categorical<T> categorical(Tape<T>&, Var, std::span<const std::uint8_t>);                                   \
  template void seed(Tape<T>&, const Categorical<T>&, std::span<const std::uint8_t>, std::span<const double>, double); \
  template void seed_folded(Tape<T>&, const Categorical<T>&, Matrix<const T>, double);
EMPLACE_INSTANTIATE(float)
EMPLACE_INSTANTIATE(double)
#undef EMPLACE_INSTANTIATE

}  // namespace emplace::nn
