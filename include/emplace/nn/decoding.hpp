// Networks one step at a time and without gradients, for sampling: the input of a step depends on what was drawn in the
// step before. B samples are decoded at once. The results are those of the ops on whole sequences, to rounding. What is
// made here lives in the memory of a tape until its next begin().
#pragma once

#include "emplace/nn/layers.hpp"

namespace emplace::nn {

// y = activation(x W + b), see linear. x B x a, y B x b.
template <class T>
class LinearStep {
 public:
  // `bias` may be empty.
  LinearStep(Tape<T>& tape, Matrix<const T> weight, Matrix<const T> bias, Activation activation);
  void operator()(Matrix<const T> x, Matrix<T> y) const;

 private:
  Matrix<const T> weight_, bias_;
  const T* packed_;  // as its products read it
  Activation activation_;
};

// One step of lstm: hidden and cell (B x H) become the next ones; x B x F.
template <class T>
class LstmStep {
 public:
  // `bias` and `forget_bias` may be empty; see LstmVars.
  LstmStep(Tape<T>& tape, Matrix<const T> weight, Matrix<const T> bias, Matrix<const T> forget_bias, std::size_t batch);
  void operator()(Matrix<const T> x, Matrix<T> hidden, Matrix<T> cell) const;

 private:
  Matrix<const T> weight_;
  const T* packed_;
  Matrix<T> start_;   // 1 x 4H: all biases
  Matrix<T> inputs_;  // B x (F + H)
  Matrix<T> gates_, squashed_;
};

// The contexts of B queries, see attention. query B x A, context B x E.
template <class T>
class AttentionStep {
 public:
  AttentionStep(Tape<T>& tape, Matrix<const T> keys, Matrix<const T> memory, Matrix<const T> v, std::size_t batch);
  void operator()(Matrix<const T> query, Matrix<T> context) const;

 private:
  struct Sides;
  Sides* sides_;
  Matrix<const T> memory_, v_;
  const T* packed_;    // the memory
  Matrix<T> weights_;  // B x M
};

}  // namespace emplace::nn
