// Self-attention over long sequences, one segment of rows at a time.
#pragma once

#include "nn/tape/tape.hpp"

namespace emplace::nn {

// Attention by scaled products (Vaswani et al. 2017, section 3.2) within consecutive segments of `segment` rows, the
// last of which may be shorter. Segment k also reads the rows of segment k - 1 in memory_keys and memory_values, if
// these are given (Dai et al. 2019, Transformer-XL, section 3.2). For each head i, of columns / heads columns each:
//   P = softmax(Q_i [K'_i; K_i]^T / sqrt(columns / heads));  O_i = P [V'_i; V_i]
// All inputs are n x columns; equal rows are the same position of the sequence. Either both memories are given or none.
// The result is n x columns.
struct SegmentAttention {
  Var query, keys, values;
  Var memory_keys, memory_values;
};
struct SegmentAttentionSpec {
  std::size_t heads = 1;
  std::size_t segment = 128;
};
template <class T>
Var segment_attention(Tape<T>& tape, const SegmentAttention& vars, const SegmentAttentionSpec& spec);

}  // namespace emplace::nn
