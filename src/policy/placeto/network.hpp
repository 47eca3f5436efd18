// Placeto's network (Addanki et al. 2019; docs/papers/placeto.md, section 2.3): messages from parents and from
// children, three poolings around the current unit, and a classifier. No parameter depends on the graph.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "nn/layers/ops.hpp"
#include "policy/placeto/graph.hpp"

namespace emplace::policy {

struct PlacetoShape {
  std::size_t features = 0;  // d
  std::size_t devices = 0;   // D
  int message_rounds = 8;    // k
  bool small = false;
  bool normalize = false;          // poolings divide by the number of units pooled
  std::size_t position_waves = 0;  // the classifier reads 2 more numbers for each
};

// Rows that are pooled: `lists` has B rows, whose items are consecutive positions in `rows`.
struct PlacetoPool {
  std::vector<std::uint32_t> rows;
  Lists lists;
};

// B states of one graph, stacked: row b U + u is unit u of state b.
struct PlacetoBlock {
  std::size_t states = 0;
  Lists parents, children;                      // B U rows
  Lists itself_if_parents, itself_if_children;  // B U rows: the row itself if it has any, else nothing
  PlacetoPool ancestors, descendants, rest;     // relatives of each state's current unit
  std::vector<std::uint32_t> current;           // B: its row
  std::vector<std::uint8_t> allowed;            // B x D
  std::vector<float> waves;                     // B x 2 position waves: position of its current unit
  std::vector<float> waves_of_unit;             // U x 2 position waves, filled once
};

// Fills `block` for states with these current units. Its memory is reused, so it must always have the same graph.
void fill_placeto_block(const PlacetoGraph& graph, const Grouping& grouping, std::span<const std::uint32_t> current,
                        std::size_t position_waves, PlacetoBlock& block);

class PlacetoParameters {
 public:
  explicit PlacetoParameters(const PlacetoShape& shape);

  // Affine layers with relu between them, none after the last.
  struct Fnn {
    std::vector<nn::Slice> weights, biases;
  };
  struct Gather {
    Fnn before, after;  // relu(after(sum of relu(before(x))))
  };

  [[nodiscard]] const nn::ParameterLayout& layout() const { return layout_; }
  [[nodiscard]] const PlacetoShape& shape() const { return shape_; }

  Fnn node, classifier;
  Gather from_parents, from_children;
  Gather ancestors, descendants, rest;

 private:
  Fnn fnn(const std::string& name, std::initializer_list<std::size_t> sizes);
  Gather gather(const std::string& name, std::size_t width);

  PlacetoShape shape_;
  nn::ParameterLayout layout_;
};

// The embedding is for tests; `logits` is B x D.
struct PlacetoVars {
  nn::Var embedding;  // (B U) x 2d: h = [from parents, from children]
  nn::Var logits;
};

// `states` is (B U) x d. It and the block must stay valid until the tape's step ends.
template <class T>
PlacetoVars placeto_network(nn::Tape<T>& tape, const PlacetoParameters& parameters, nn::Matrix<const T> states,
                            const PlacetoBlock& block);

}  // namespace emplace::policy
