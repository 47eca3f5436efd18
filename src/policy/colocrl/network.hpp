// ColocRL's network (docs/papers/colocrl.md, sections 2.2 and 2.3): an LSTM reads the groups, an attentional LSTM emits
// a device for each.
#pragma once

#include <cstdint>
#include <span>

#include "nn/layers/ops.hpp"
#include "policy/common/attentional_decoder.hpp"

namespace emplace::policy {

struct ColocrlSizes {
  std::size_t types, groups, devices;  // T, M, D
  std::size_t shape_slots = 16;        // S
  std::size_t type_width = 32, device_width = 32, hidden = 256;
  std::size_t attention_width = 0;  // A, of keys and queries; 0: H, as in the paper
  bool aligned = false;             // the decoder reads the encoder's state of the group that it places, too
};

struct ColocrlNetwork {
  explicit ColocrlNetwork(const ColocrlSizes& of);
  // Glorot uniform for matrices; 0 for biases, but 1 for those of the forget gates; uniform in +-0.1 for tables.
  template <class T>
  void initialize(std::span<T> values, std::uint64_t seed) const;

  ColocrlSizes sizes;
  nn::ParameterLayout layout;
  nn::Slice type_table;  // T x d_type
  nn::Slice encoder_weight, encoder_bias;
  nn::Slice key_weight;        // W1, H x A
  AttentionalDecoder decoder;  // W2 and v are its attention
  nn::Slice output_weight, output_bias;
};

// The encoder's input for a problem.
template <class T>
struct ColocrlInput {
  const Lists* types;            // M rows: the type ids of the group's ops
  nn::Matrix<const T> features;  // M x (S + M): shapes, adjacency
};

// The encoder's states h as memory, M x H, and h W1 as keys, M x A.
template <class T>
DecoderMemory encode(nn::Tape<T>& tape, const ColocrlNetwork& network, const ColocrlInput<T>& input);

// (M B) x D logits of B samples: row t B + b is step t, given the devices of the earlier steps. `previous` has M B row
// numbers of the device table and must stay valid until the tape's step ends.
template <class T>
nn::Var decode(nn::Tape<T>& tape, const ColocrlNetwork& network, const DecoderMemory& encoding,
               std::span<const std::uint32_t> previous, std::size_t batch);

// The same one step at a time, without gradients.
template <class T>
class ColocrlSteps {
 public:
  ColocrlSteps(nn::Tape<T>& tape, const ColocrlNetwork& network, const DecoderMemory& encoding, std::size_t batch);
  // B x D logits of the next step; `previous`: B row numbers of the device table.
  nn::Matrix<const T> operator()(std::span<const std::uint32_t> previous);

 private:
  DecoderSteps<T> states_;
  nn::LinearStep<T> output_;
  nn::Matrix<T> logits_;
};

}  // namespace emplace::policy
