// The FLOPs and traffic rules that the rows of the op table use.
#pragma once

#include "graph/ops/op_row.hpp"

namespace emplace {

// FLOPs rules. `factor` is the FLOPs per element unless stated otherwise.
double no_flops(const OpView& op, double factor);
double per_output(const OpView& op, double factor);    // elements of the first output
double per_input(const OpView& op, double factor);     // elements of the first input
double per_gradient(const OpView& op, double factor);  // elements of the second input, the gradient
double per_operand(const OpView& op, double factor);   // output elements x (operands - 1): Sum, Max
double matmul_flops(const OpView& op, double factor);
double gemm_flops(const OpView& op, double factor);
double conv_flops(const OpView& op, double factor);
// For ConvTranspose and ConvGradInput; inputs (x, weight): 2 x elements of x x weight elements per channel of x.
double conv_scatter_flops(const OpView& op, double factor);
double conv_grad_weight_flops(const OpView& op, double factor);
// The attribute "equation" ("bij,bjk->bik") names the dimensions of the operands. For each combination of indices, the
// operands are multiplied and added up.
double einsum_flops(const OpView& op, double factor);
// Inputs (queries ... x L x E, keys ... x S x E, values ... x S x V), of which ONNX' Attention may hold several heads
// side by side in E and V (q_num_heads): two products, and a softmax of `factor` over the S scores of each query.
double attention_flops(const OpView& op, double factor);
double recurrent_flops(const OpView& op, double factor);  // factor: FLOPs of a gate's element-wise part
// The steps of an ONNX LSTM, GRU or RNN times its directions, each of which needs the result of the one before, so that
// each is launched; 1 if the sizes are not known or an operand is empty.
double recurrent_launches(const OpView& op);
// PyTorch's LSTM, GRU and RNN: one op for a stack of layers. Operands are x (time x batch x input, or batch first with
// the attribute "batch_first"), the initial states (rank 3), and for each layer and direction two matrices and two
// biases. `factor` as above.
double recurrent_stack_flops(const OpView& op, double factor);
double recurrent_stack_launches(const OpView& op);               // steps x layers x directions
double pool_flops(const OpView& op, double factor);              // factor per element of the kernel's window
double pool_flops_of_gradient(const OpView& op, double factor);  // the same per element of the first input
double batch_norm_flops(const OpView& op, double factor);        // factor with fixed statistics, 8 with the batch's own
double twice_forward(const OpView& op, double factor);           // factor x the FLOPs of `forward_of`
double stated_flops(const OpView& op, double factor);            // the attribute "flops"

// Rules of memory traffic.
MemoryTraffic all_operands(const OpView& op);    // each operand read once, each output written once
MemoryTraffic no_traffic(const OpView& op);      // views, which move no data
MemoryTraffic gathered(const OpView& op);        // reads the indices and the rows that it writes
MemoryTraffic sliced(const OpView& op);          // reads as many bytes as it writes
MemoryTraffic filled(const OpView& op);          // writes only
MemoryTraffic stated_traffic(const OpView& op);  // the attributes "bytes_read" and "bytes_written"
// An optimiser's step with 0, 1 or 2 copies of state; inputs are (parameter, gradient, indices if sparse).
MemoryTraffic update_stateless(const OpView& op);
MemoryTraffic update_one_state(const OpView& op);
MemoryTraffic update_two_states(const OpView& op);

}  // namespace emplace
