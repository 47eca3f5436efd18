// The decoder of ColocRL and of the Hierarchical Planner: an LSTM that reads the device of the row before and looks at
// all rows of an encoding by attention (docs/papers/colocrl.md, section 2.3; docs/papers/hierarchical.md, section 2.4).
#pragma once

#include <cstdint>
#include <span>

#include "nn/layers/decoding.hpp"
#include "nn/layers/ops.hpp"

namespace emplace::policy {

struct AttentionalDecoder {
  nn::Slice device_table;       // (D + 1) x d, the last row is GO
  nn::Slice weight;             // (d + H) x 4H; aligned: (d + E + H) x 4H
  nn::Slice bias, forget_bias;  // 1 x 4H, 1 x 1; either may be left out
  nn::Slice query_weight;       // H x A
  nn::Slice score;              // A x 1
  // It also reads the memory of the row that it decodes. The papers' decoders have to find that row by attention.
  bool aligned = false;
};

// M encoded rows, the same for all samples.
struct DecoderMemory {
  nn::Var keys;                    // M x A
  nn::Var memory;                  // M x E
  nn::Var last_hidden, last_cell;  // 1 x H: where the decoder starts
};

// (M B) x (H + E) of B samples, row t B + b: [state, context] with the devices of the steps before given; `previous`
// has M B rows of the device table and stays until the step ends.
template <class T>
nn::Var decoder_states(nn::Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory,
                       std::span<const std::uint32_t> previous, std::size_t batch);

// The same one step at a time, without gradients.
template <class T>
class DecoderSteps {
 public:
  DecoderSteps(nn::Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory, std::size_t batch);
  // B x (H + E); `previous`: B rows of the device table.
  nn::Matrix<const T> operator()(std::span<const std::uint32_t> previous);

 private:
  nn::LstmStep<T> lstm_;
  nn::LinearStep<T> query_;
  nn::AttentionStep<T> attention_;
  nn::Matrix<const T> device_gates_, memory_gates_;
  std::size_t step_ = 0;
  nn::Matrix<T> gates_, hidden_, cell_, q_, context_, both_;
};

}  // namespace emplace::policy
