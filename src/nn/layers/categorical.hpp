// One categorical distribution per row, and the gradients of log-probabilities and entropies by the logits.
#pragma once

#include <cstdint>
#include <span>

#include "nn/tape/tape.hpp"

namespace emplace::nn {

// n rows of D logits. A forbidden column is left out of the softmax: probability 0, log-probability -infinity, no
// gradient. So is a logit of -infinity.
template <class T>
struct Categorical {
  Var logits;
  Matrix<const T> scores;                  // the values of the logits
  Matrix<T> probability;                   // n x D
  std::span<const double> entropy;         // n, nats
  std::span<const double> log_normalizer;  // n: log sum exp of the row
  std::span<const std::uint8_t> allowed;   // n x D, or empty: all

  [[nodiscard]] double log_probability(std::size_t row, std::size_t column) const;
};

// `allowed` is n x D bytes or empty (all are allowed), and must stay valid until the step ends. A row without any
// allowed column, or with a logit of NaN or +infinity, is a bug.
template <class T>
Categorical<T> categorical(Tape<T>& tape, Var logits, std::span<const std::uint8_t> allowed);

// Seeds the gradient of sum_r coefficient[r] log p(r, action[r]) + entropy_weight sum_r H_r:
//   d logits = coefficient (onehot(action) - p) - entropy_weight p (log p + H)
// Elements below 1e-24 become 0.
template <class T>
void seed(Tape<T>& tape, const Categorical<T>& rows, std::span<const std::uint8_t> action,
          std::span<const double> coefficient, double entropy_weight);
// The same for several samples folded into one pass: weight n x D, weight(r, d) = the sum of the coefficients of the
// samples whose action in row r is d:
//   d logits = weight - rowsum(weight) p - entropy_weight p (log p + H)
template <class T>
void seed_folded(Tape<T>& tape, const Categorical<T>& rows, Matrix<const T> weight, double entropy_weight);

}  // namespace emplace::nn
