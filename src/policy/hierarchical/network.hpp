// The Hierarchical Planner's two networks (docs/papers/hierarchical.md, sections 2.2 and 2.4): a grouper that gives
// each op logits over groups, and a placer that reads the groups and emits a device for each.
#pragma once

#include <cstdint>
#include <span>

#include "nn/layers/ops.hpp"
#include "policy/common/attentional_decoder.hpp"

namespace emplace::policy {

struct HierarchicalSizes {
  std::size_t types, groups, devices;  // T, G, D
  bool has_grouper = true;
  std::size_t shape_slots = 25, neighbour_slots = 20, position_waves = 0;
  bool number_of_outputs = false;  // a column of the grouper's input
  std::size_t type_width = 20, grouper_hidden = 64;
  std::size_t hidden = 512;  // H, even: the encoder has H/2 units in each direction
  double grouper_gain = 1;   // times Glorot's bound: spread of the grouper's first logits
  double order_prior = 0;    // Grouper::order_prior()
  bool aligned = false;      // the decoder reads the memory of the group that it places, too
  double squash = 5, temperature = 10;

  [[nodiscard]] std::size_t op_constants() const {  // columns besides the type's
    return shape_slots + (number_of_outputs ? 1 : 0) + neighbour_slots + 2 * position_waves;
  }
  [[nodiscard]] std::size_t group_features() const { return types + shape_slots + groups; }  // F_g
};

struct HierarchicalNetwork {
  explicit HierarchicalNetwork(const HierarchicalSizes& of);
  // Glorot uniform for matrices and tables, zeros for biases, 1 for the forget scalars.
  template <class T>
  void initialize(std::span<T> values, std::uint64_t seed) const {
    layout.initialize(values, seed);
  }

  HierarchicalSizes sizes;
  nn::ParameterLayout layout;
  nn::Slice type_table;                                              // T x 20
  nn::Slice grouper_weight, grouper_bias, group_weight, group_bias;  // W1, b1, W2, b2
  nn::Slice encoder_there, encoder_back, encoder_forget;             // (F_g + H/2) x 2H each, beta
  nn::Slice memory_weight;                                           // Wa1
  AttentionalDecoder decoder;                                        // d = E = H; Wa2 and v are its attention
  nn::Slice output_weight;                                           // Wd
};

// n x G logits of n ops. types: n rows of one type id or none; constants: n x (shapes, number of
// outputs, neighbours, position waves).
// Both must stay valid until the tape's step ends.
template <class T>
nn::Var grouper_logits(nn::Tape<T>& tape, const HierarchicalNetwork& network, const Lists& types,
                       nn::Matrix<const T> constants);

// Encodes the groups: m, G x H, is both memory and keys. `groups`: G x F_g, gets no gradient and must stay valid until
// the tape's step ends.
template <class T>
DecoderMemory encode_groups(nn::Tape<T>& tape, const HierarchicalNetwork& network, nn::Matrix<const T> groups);

// The encoder's states h_i, G x H, from which encode_groups computes the memory.
template <class T>
nn::LstmResult encoder_states(nn::Tape<T>& tape, const HierarchicalNetwork& network, nn::Matrix<const T> groups);

// (G B) x D squashed logits of B samples, row t B + b. `previous`: G B row numbers of the device table, which must stay
// valid until the tape's step ends.
template <class T>
nn::Var decode_groups(nn::Tape<T>& tape, const HierarchicalNetwork& network, const DecoderMemory& encoding,
                      std::span<const std::uint32_t> previous, std::size_t batch);

// The same one step at a time, without gradients.
template <class T>
class PlacerSteps {
 public:
  PlacerSteps(nn::Tape<T>& tape, const HierarchicalNetwork& network, const DecoderMemory& encoding, std::size_t batch);
  // B x D squashed logits of the next step, which the caller may change; `previous`: B row numbers of the device table.
  nn::Matrix<T> operator()(std::span<const std::uint32_t> previous);

 private:
  DecoderSteps<T> states_;
  nn::LinearStep<T> output_;
  T squash_, temperature_;
  nn::Matrix<T> logits_;
};

}  // namespace emplace::policy
