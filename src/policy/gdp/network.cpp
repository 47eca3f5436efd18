#include "policy/gdp/network.hpp"

#include <cmath>

namespace emplace::policy {

using nn::Activation;
using nn::Tape;
using nn::Var;

GdpNetwork::Linear GdpNetwork::add_linear(const std::string& name, std::size_t rows, std::size_t columns, double gain) {
  return {layout.add(name + "/weight", rows, columns, nn::glorot_uniform(gain)),
          layout.add(name + "/bias", 1, columns, nn::zeros)};
}

GdpNetwork::PlacerLayer GdpNetwork::add_placer_layer(const std::string& name, double last_gain, bool attention,
                                                     bool gated) {
  const std::size_t h = sizes.hidden;
  const auto norm = [&](const std::string& of, double gain) {
    return Norm{layout.add(name + of + "/gain", 1, h, nn::constant(gain)),
                layout.add(name + of + "/bias", 1, h, nn::zeros)};
  };
  PlacerLayer layer;
  if (gated) layer.gated = norm("/gated", 1);
  if (attention) {
    layer.query = layout.add(name + "/query", h, h, nn::glorot_uniform());
    layer.key = layout.add(name + "/key", h, h, nn::glorot_uniform());
    layer.value = layout.add(name + "/value", h, h, nn::glorot_uniform());
    layer.output = layout.add(name + "/output", h, h, nn::glorot_uniform());
    layer.after_attention = norm("/after_attention", 1);
  }
  layer.widen = add_linear(name + "/widen", h, sizes.feedforward);
  layer.narrow = add_linear(name + "/narrow", sizes.feedforward, h);
  layer.after_feedforward = norm("/after_feedforward", last_gain);
  return layer;
}

GdpNetwork::GdpNetwork(const GdpSizes& of) : sizes(of) {
  const std::size_t h = of.hidden;
  type_table = layout.add("types", of.types, of.type_width, nn::uniform(0.1));
  input = add_linear("input", of.type_width + of.features + of.decision, h);
  for (std::size_t l = 0; l < of.graph_layers; ++l) {
    const std::string name = "graph/" + std::to_string(l);
    const Linear pool = add_linear(name + "/pool", h, h);
    graph.push_back({pool, add_linear(name + "/join", 2 * h, h)});
  }
  const bool by_graph = of.superposition == Superposition::graph;
  if (of.superposition == Superposition::per_node)
    conditioner = add_placer_layer("conditioner", 0.1, of.attention, false);  // so that gates start near 1
  if (by_graph) gate = add_linear("gate", h, h);
  for (std::size_t l = 0; l < of.placer_layers; ++l)
    placer.push_back(add_placer_layer("placer/" + std::to_string(l), 1, of.attention, by_graph));
  head = add_linear("head", h, of.device_features > 0 ? h : of.devices, of.head_gain);
  if (of.device_features > 0) device = add_linear("device", of.device_features, h);
  if (of.pair_features > 0) pair = add_linear("pair", h, of.pair_features, of.head_gain);
  if (of.priority_levels > 0) schedule = add_linear("schedule", h, of.priority_levels, of.head_gain);
}

namespace {

template <class T>
constexpr T epsilon = static_cast<T>(1e-5);

template <class T>
class Forward {
 public:
  Forward(Tape<T>& tape, const GdpNetwork& network, const GdpInput<T>& input)
      : tape_(tape), network_(network), sizes_(network.sizes), input_(input) {}

  GdpResult operator()() {
    GdpResult result;
    result.embedding = embed();
    Var x = result.embedding;
    if (sizes_.centered) x = add_row(tape_, x, nn::scale(tape_, segment_mean(tape_, x, *input_.all), T{-1}));
    Var each;  // the gate of every dense layer's input
    if (sizes_.superposition == Superposition::per_node) {
      const Var c = transform(network_.conditioner, x, {}, false);
      each = result.gate = nn::scale(tape_, activate(tape_, c, Activation::sigmoid), T{2});
    }
    if (sizes_.superposition == Superposition::graph)
      result.gate = linear(segment_mean(tape_, x, *input_.all), network_.gate, Activation::sigmoid);
    for (const GdpNetwork::PlacerLayer& layer : network_.placer) {
      if (sizes_.superposition == Superposition::graph) x = norm(times(tape_, x, result.gate), layer.gated);
      x = transform(layer, x, each, sizes_.memory);
    }
    x = gated(x, each);
    result.logits = decide(x);
    if (sizes_.priority_levels > 0) result.priorities = linear(x, network_.schedule, Activation::none);
    return result;
  }

 private:
  Var parameter(const nn::Slice& slice) { return tape_.parameter(slice); }
  Var linear(Var x, const GdpNetwork::Linear& by, Activation activation) {
    return nn::linear(tape_, x, parameter(by.weight), parameter(by.bias), activation);
  }
  Var norm(Var x, const GdpNetwork::Norm& by) {
    return layer_norm(tape_, x, parameter(by.gain), parameter(by.bias), epsilon<T>);
  }
  Var add_norm(Var x, Var change, const GdpNetwork::Norm& by) {
    return nn::add_norm(tape_, x, change, parameter(by.gain), parameter(by.bias), epsilon<T>);
  }
  Var gated(Var x, Var gate) { return gate.is_none() ? x : times(tape_, x, gate); }

  // Section 2.2.
  Var embed() {
    std::vector<Var> parts = {segment_mean(tape_, parameter(network_.type_table), *input_.types),
                              tape_.constant(input_.features)};
    if (sizes_.decision > 0) parts.push_back(tape_.constant(input_.decisions));
    Var h = linear(nn::concat_columns<T>(tape_, parts), network_.input, Activation::relu);
    for (const GdpNetwork::GraphLayer& layer : network_.graph) {
      const Var pooled = linear(h, layer.pool, Activation::sigmoid);
      const Var joined[] = {h, segment_max(tape_, pooled, *input_.neighbours)};
      h = linear(nn::concat_columns<T>(tape_, joined), layer.join, Activation::relu);
    }
    return h;
  }

  // A layer of section 2.4. A segment's memory is the layer's input in the previous segment, so its keys and values are
  // those computed there; gradients flow only into the weights.
  Var transform(const GdpNetwork::PlacerLayer& layer, Var x, Var gate, bool memory) {
    if (layer.query.size() > 0) {
      const Var z = gated(x, gate), key_weight = parameter(layer.key), value_weight = parameter(layer.value);
      nn::SegmentAttention vars{matmul(tape_, z, parameter(layer.query)),
                                matmul(tape_, z, key_weight),
                                matmul(tape_, z, value_weight),
                                {},
                                {}};
      if (memory && tape_.value(x).rows > sizes_.segment) {
        vars.memory_keys = product_of_constant(tape_, vars.keys, z, key_weight);
        vars.memory_values = product_of_constant(tape_, vars.values, z, value_weight);
      }
      const Var read = segment_attention(tape_, vars, {sizes_.heads, sizes_.segment});
      const Var change = matmul(tape_, gated(read, gate), parameter(layer.output));
      x = add_norm(x, change, layer.after_attention);
    }
    const Var wide = linear(gated(x, gate), layer.widen, Activation::relu);
    return add_norm(x, linear(wide, layer.narrow, Activation::none), layer.after_feedforward);
  }

  Var decide(Var x) {
    const Var scores = linear(x, network_.head, Activation::none);
    if (sizes_.device_features == 0) return scores;
    const Var devices = linear(tape_.constant(input_.devices), network_.device, Activation::relu);
    const Var compared = matmul_transposed(tape_, scores, devices);
    if (sizes_.pair_features == 0) return compared;
    const Var weights = linear(x, network_.pair, Activation::none);
    return add(tape_, compared, pair_scores(tape_, weights, tape_.constant(input_.pairs)));
  }

  Tape<T>& tape_;
  const GdpNetwork& network_;
  const GdpSizes& sizes_;
  const GdpInput<T>& input_;
};

}  // namespace

double bytes_per_node(const GdpSizes& sizes) {
  const auto h = static_cast<double>(sizes.hidden), wide = static_cast<double>(sizes.feedforward);
  // In matrices of N x H: those that a layer keeps for its gradient.
  constexpr double of_graph_layer = 6;                     // pooled, maximum and its index, both joined, result
  const double of_attention = (sizes.memory ? 2 : 0) + 7;  // queries, keys, values, read, change, norm
  const double of_feedforward = 3;                         // narrow, norm
  const double of_gates = sizes.superposition == Superposition::per_node ? (sizes.attention ? 3 : 1)
                          : sizes.superposition == Superposition::graph  ? 3
                                                                         : 0;
  constexpr double others = 5;      // the first layer, the mean taken out, gated, scores
  constexpr double gradients = 15;  // that exist at the same time
  const auto layers = static_cast<double>(sizes.placer_layers);
  double floats = h * (others + gradients + of_graph_layer * static_cast<double>(sizes.graph_layers)) + 2 * wide +
                  layers * (h * ((sizes.attention ? of_attention : 0) + of_feedforward + of_gates) + wide);
  if (sizes.superposition == Superposition::per_node)
    floats += h * ((sizes.attention ? of_attention : 0) + of_feedforward + 2) + wide;
  floats += 2 * static_cast<double>(sizes.type_width + sizes.features + sizes.decision);
  constexpr double of_choice = 40;  // logits, probabilities, coefficients
  return sizeof(float) * floats + of_choice * static_cast<double>(sizes.devices + sizes.priority_levels);
}

template <class T>
GdpResult gdp_network(Tape<T>& tape, const GdpNetwork& network, const GdpInput<T>& input) {
  return Forward<T>(tape, network, input)();
}

template GdpResult gdp_network(Tape<float>&, const GdpNetwork&, const GdpInput<float>&);
template GdpResult gdp_network(Tape<double>&, const GdpNetwork&, const GdpInput<double>&);

}  // namespace emplace::policy
