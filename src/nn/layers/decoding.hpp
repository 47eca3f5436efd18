// Networks that are computed one step at a time and without gradients, for sampling: the input of a step depends on the
// action drawn in the step before. B samples are decoded at the same time. The results are bitwise equal to those of
// the ops on whole sequences (with `reference` kernels equal up to rounding). The objects use the memory of a tape, and
// are valid until its next begin().
#pragma once

#include "nn/layers/layers.hpp"

namespace emplace::nn {

template <class T>
struct Packed;  // a matrix in the order in which products read it

// y = activation(x W + b), see linear. x B x a, y B x b.
template <class T>
class LinearStep {
 public:
  // `bias` may be empty.
  LinearStep(Tape<T>& tape, Matrix<const T> weight, Matrix<const T> bias, Activation activation);
  void operator()(Matrix<const T> x, Matrix<T> y) const;

 private:
  Matrix<const T> bias_;
  const Packed<T>* weight_;
  Activation activation_;
};

// One step of lstm: hidden and cell (B x H) become the next ones. `gates` (B x 4H) has the gate_sums() of the part of
// the input that is known before the step, and is overwritten. `fed` (B x R, R may be 0) is the part of the input that
// is not.
template <class T>
class LstmStep {
 public:
  // The weight is (R + H) x 4H: the rows of the fed input above those of the hidden state.
  LstmStep(Tape<T>& tape, Matrix<const T> weight, std::size_t batch);
  void operator()(Matrix<T> gates, Matrix<const T> fed, Matrix<T> hidden, Matrix<T> cell) const;

 private:
  const Packed<T>* weight_;
  Matrix<T> inputs_;  // B x (R + H)
  Matrix<T> squashed_;
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
  Matrix<const T> v_;
  const Packed<T>* memory_;
  Matrix<T> weights_;  // B x M
};

}  // namespace emplace::nn
