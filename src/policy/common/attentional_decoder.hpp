// The decoder of ColocRL and of the Hierarchical Planner: an LSTM that reads the device of the previous row and attends
// to all rows of an encoding (docs/papers/colocrl.md, section 2.3; docs/papers/hierarchical.md, section 2.4).
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
  // Aligned: the decoder also reads the memory of the row that it decodes. The papers' decoders must find it by
  // attention.
  bool aligned = false;
};

// M encoded rows, the same for all samples.
struct DecoderMemory {
  nn::Var keys;                    // M x A
  nn::Var memory;                  // M x E
  nn::Var last_hidden, last_cell;  // 1 x H: the decoder's initial state
};

// (M B) x (H + E) for B samples: row t B + b is [state, context] of step t, given the devices of the earlier steps.
// `previous` has M B row numbers of the device table and must stay valid until the tape's step ends.
template <class T>
nn::Var decoder_states(nn::Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory,
                       std::span<const std::uint32_t> previous, std::size_t batch);

// About how many bytes encoding M rows of F features and decoding them for `batch` samples takes on a tape of floats:
// with decoder_states(), their logits of D devices and the gradients, or with DecoderSteps.
double bytes_of_decoding(const AttentionalDecoder& decoder, std::size_t rows, std::size_t features, std::size_t devices,
                         std::size_t batch);
double bytes_of_decoder_steps(const AttentionalDecoder& decoder, std::size_t rows, std::size_t features,
                              std::size_t batch);

// The same one step at a time, without gradients.
template <class T>
class DecoderSteps {
 public:
  DecoderSteps(nn::Tape<T>& tape, const AttentionalDecoder& decoder, const DecoderMemory& memory, std::size_t batch);
  // B x (H + E); `previous`: B row numbers of the device table.
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
