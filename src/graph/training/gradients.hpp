// Gradient rules: each emits the backward ops of one forward op. Y is the first output, dY its gradient, and A, B, X
// are inputs. Gradients are emitted only for the inputs that depend on a trainable parameter (Backward::wants).
#pragma once

#include "graph/training/backward.hpp"

namespace emplace {

// For types that pass no gradient (integers, shapes, comparisons): nothing before such an op is trained through it.
void no_gradient(Backward& backward, OpId forward);
// Emits one op `<Type>Grad` that takes the outputs' gradients and the forward inputs and has one output for each input
// that needs a gradient. Rows with nullptr as rule use it; its FLOPs are twice those of the forward op.
void generic_gradient(Backward& backward, OpId forward);

// gradients_math.cpp
void pass_gradient(Backward& backward, OpId forward);         // dA = dB = dY: Add, Sum, Identity, Dropout without mask
void route_gradient(Backward& backward, OpId forward);        // control flow: each dY goes to each input
void sub_gradient(Backward& backward, OpId forward);          // dA = dY, dB = -dY
void mul_gradient(Backward& backward, OpId forward);          // dA = dY B, dB = dY A
void div_gradient(Backward& backward, OpId forward);          // dA = dY / B, dB = -dA Y
void neg_gradient(Backward& backward, OpId forward);          // dX = -dY
void from_output_gradient(Backward& backward, OpId forward);  // dX = TypeGrad(dY, Y): Relu, Sigmoid, Softmax
void from_input_gradient(Backward& backward, OpId forward);   // dX = TypeGrad(dY, X): Erf, Clip, Gelu
void where_gradient(Backward& backward, OpId forward);
void matmul_gradient(Backward& backward, OpId forward);  // dA = dY B^T, dB = A^T dY
void gemm_gradient(Backward& backward, OpId forward);
void reduction_gradient(Backward& backward, OpId forward);  // dX = Expand(dY): ReduceMean, ReduceSum
void dropout_gradient(Backward& backward, OpId forward);    // dX = dY mask
void loss_gradient(Backward& backward, OpId forward);       // dlogits = TypeGrad(dY, log-probabilities, labels)

// gradients_nn.cpp
// Emits one op of type `to_input` (dY, W) and one of type `to_weight` (dY, X); a third operand is a bias.
void conv_gradient_by(Backward& backward, OpId forward, const char* to_input, const char* to_weight);
void conv_gradient(Backward& backward, OpId forward);
void conv_transpose_gradient(Backward& backward, OpId forward);
void normalisation_gradient(Backward& backward, OpId forward);  // one op: dX, dscale, dbias
void pool_gradient(Backward& backward, OpId forward);           // dX = TypeGrad(dY, X, Y)
void average_pool_gradient(Backward& backward, OpId forward);   // dX = TypeGrad(dY)

// gradients_shape.cpp
void reshape_gradient(Backward& backward, OpId forward);  // Reshape, Flatten, Squeeze, Unsqueeze
void cast_gradient(Backward& backward, OpId forward);
void transpose_gradient(Backward& backward, OpId forward);
void concat_gradient(Backward& backward, OpId forward);  // one Split
void split_gradient(Backward& backward, OpId forward);   // one Concat
void slice_gradient(Backward& backward, OpId forward);   // Pad with zeros
void pad_gradient(Backward& backward, OpId forward);     // Slice
void gather_gradient(Backward& backward, OpId forward);  // rows of a parameter stay sparse

}  // namespace emplace
