// Layers that end in a rectifier and dropout (Srivastava et al. 2014, in the inverted form: kept elements are scaled up
// in training, and nothing is scaled without dropout). Shapes as in layers.hpp.
#pragma once

#include "emplace/base/random.hpp"
#include "nn/tape/tape.hpp"

namespace emplace::nn {

// Each element is dropped with probability `rate`, rounded to a multiple of 1/65536, and kept ones are divided by the
// probability of being kept. Ops draw their masks from the stream in the order in which they are put on the tape, row
// by row; each op begins with a whole block of the stream. Without a stream nothing is dropped.
struct Dropout {
  double rate = 0;  // in [0, 1)
  Stream* masks = nullptr;
};

// y = drop(relu(x W + b)): x n x a, W a x b, bias 1 x b.
template <class T>
Var linear_relu_drop(Tape<T>& tape, Var x, Var weight, Var bias, const Dropout& dropout);
// y = drop(relu(LN(x))), LN as layer_norm.
template <class T>
Var norm_relu_drop(Tape<T>& tape, Var x, Var gain, Var bias, T epsilon, const Dropout& dropout);

}  // namespace emplace::nn
