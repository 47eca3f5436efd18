// LSTMs over whole sequences and content-based attention. Sequences of T steps and B samples are (T * B) x F matrices
// with row t * B + b.
#pragma once

#include "nn/tape/tape.hpp"

namespace emplace::nn {

// LSTM (Hochreiter, Schmidhuber 1997; the columns of the gates in the order i f o g):
//   [i f o g] = [x, h] W + b;  c' = sigmoid(f + beta) c + sigmoid(i) tanh(g);  h' = sigmoid(o) tanh(c')
// Input-to-gate products and weight gradients are one GEMM each over (T x B); only h W_h is sequential.
struct LstmSpec {
  std::size_t batch = 1;
  bool reverse = false;  // reads step T-1 first; row t of the result is step t as well
  // True: the input is already gate_sums(), (T B) x 4H; the weight is only W_h, H x 4H, and there are no biases.
  bool summed = false;
};
struct LstmVars {
  Var input;         // (T B) x F
  Var weight;        // (F + H) x 4H: the rows of x above those of h
  Var bias;          // 1 x 4H or none
  Var forget_bias;   // beta, 1 x 1, or none
  Var hidden, cell;  // B x H start, or none: zeros
};
struct LstmResult {
  Var hidden;                  // (T B) x H
  Var last_hidden, last_cell;  // B x H: after the last step read
};
template <class T>
LstmResult lstm(Tape<T>& tape, const LstmVars& vars, const LstmSpec& spec);
// x W_x + b with beta added to f, n x 4H: the part of an LSTM's gate sums that does not depend on its state. If many
// steps read the same few rows, these can be multiplied once and then gathered. input n x F, weight F x 4H, biases as
// above.
template <class T>
Var gate_sums(Tape<T>& tape, Var input, Var weight, Var bias, Var forget_bias);

// h_t = [forward state at t, backward state at t], (T B) x 2H; last_* = [last forward, last backward], B x 2H. Each
// reads its own `input`.
template <class T>
LstmResult bidirectional_lstm(Tape<T>& tape, const LstmVars& forward, const LstmVars& backward, std::size_t batch);

// Content-based (additive) attention (Bahdanau et al. 2015; Vinyals et al. 2015):
//   u_{t,i} = tanh(key_i + query_t) v;  a_t = softmax_i(u_t);  context_t = sum_i a_{t,i} memory_i
// keys M x A and memory M x E are shared by all queries (one encoding for all samples); query n x A; v A x 1; result n
// x E.
template <class T>
Var attention(Tape<T>& tape, Var query, Var keys, Var memory, Var v);

// A decoder whose LSTM reads [x_t, context_{t-1}] at step t (input feeding: Luong et al. 2015, section 3.3), with the
// attention above for query_t = h_t W_q; the first context is zeros. W of the LSTM is (F + E + H) x 4H.
struct FeedingResult {
  Var hidden, context;  // (T B) x H, (T B) x E
};
template <class T>
FeedingResult feeding_decoder(Tape<T>& tape, const LstmVars& lstm, Var query_weight /* H x A */, Var keys, Var memory,
                              Var v, const LstmSpec& spec);

}  // namespace emplace::nn
