#include "policy/hsdag/network.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"

namespace emplace::policy {

using nn::Matrix;
using nn::Tape;
using nn::Var;

HsdagEncoder hsdag_encoder(const std::string& name) {
  if (name == "gcn") return HsdagEncoder::gcn;
  return name == "gat" ? HsdagEncoder::gat : HsdagEncoder::gin;
}

HsdagNetwork::HsdagNetwork(const HsdagSizes& sizes) : sizes_(sizes) {
  const std::size_t features = sizes.features, hidden = sizes.hidden;
  in_first = linear("in.0", features, hidden);
  in_first_norm = norm("in.0.norm");
  in_second = linear("in.1", hidden, hidden);
  in_second_norm = norm("in.1.norm");
  if (sizes.scores_edges || sizes.groups > 0) gnn1 = gnn("gnn1", sizes.score_layers);
  if (sizes.scores_edges) {
    edge_first = linear("edge.0", hidden, hidden);
    edge_norm = norm("edge.0.norm");
    edge_second = linear("edge.1", hidden, 1);
  }
  if (sizes.groups > 0) group = linear("group", hidden, sizes.groups);
  gnn2 = gnn("gnn2", sizes.pool_layers);
  pre = residual("pre");
  post = residual("post");
  out_first = linear("out.0", hidden, hidden);
  out_second = linear("out.1", hidden, features);
  head_first = linear("head.0", features, hidden);
  head_second = linear("head.1", hidden, sizes.devices);
}

HsdagNetwork::Linear HsdagNetwork::linear(const std::string& name, std::size_t in, std::size_t out) {
  const nn::Initializer start = nn::uniform(1 / std::sqrt(static_cast<double>(std::max<std::size_t>(in, 1))));
  return {layout_.add(name + ".weight", in, out, start), layout_.add(name + ".bias", 1, out, start)};
}

HsdagNetwork::GraphLayer HsdagNetwork::graph_layer(const std::string& name) {
  const std::size_t hidden = sizes_.hidden;
  GraphLayer made;
  if (sizes_.encoder == HsdagEncoder::gin) {
    made.inner = linear(name + ".inner", hidden, hidden);
    made.linear = linear(name, hidden, hidden);
    return made;
  }
  made.linear = {layout_.add(name + ".weight", hidden, hidden, nn::glorot_uniform()),
                 layout_.add(name + ".bias", 1, hidden, nn::zeros)};
  if (sizes_.encoder == HsdagEncoder::gat) {
    const double bound = std::sqrt(6 / (static_cast<double>(hidden) + 1));  // Glorot's, of each column by itself
    made.attention = layout_.add(name + ".attention", hidden, 2, nn::uniform(bound));
  }
  return made;
}

HsdagNetwork::Norm HsdagNetwork::norm(const std::string& name) {
  return {layout_.add(name + ".gain", 1, sizes_.hidden, nn::constant(1)),
          layout_.add(name + ".offset", 1, sizes_.hidden, nn::zeros)};
}

HsdagNetwork::Gnn HsdagNetwork::gnn(const std::string& name, int layers) {
  Gnn made;
  for (int i = 0; i < layers; ++i) made.layers.push_back(graph_layer(name + "." + std::to_string(i)));
  made.norm = norm(name + ".norm");
  return made;
}

HsdagNetwork::Residual HsdagNetwork::residual(const std::string& name) {
  Residual made;
  made.linear = linear(name, sizes_.hidden, sizes_.hidden);
  made.norm = norm(name + ".norm");
  return made;
}

double bytes_of_passes(const HsdagSizes& sizes, const NodeGraph& graph, int parsing_passes) {
  const auto nodes = static_cast<double>(graph.nodes), edges = static_cast<double>(graph.edges());
  // In rows of the hidden width that a pass keeps for its gradient.
  // Mixed, linear, and that of a graph isomorphism layer's hidden units; norm.
  const double of_layer = sizes.encoder == HsdagEncoder::gin ? 3 : 2;
  const auto of_layers = [&](int layers) { return of_layer * layers + 2; };
  constexpr double of_input = 7;                    // two layers and their norms, mixed
  constexpr double of_edge = 5;                     // both ends, linear, norm, score
  constexpr double of_pooling = 4, of_cluster = 8;  // residual layers; sums, scaled, output
  double of_node = of_input + of_layers(sizes.score_layers);
  // A parsing pass leaves about a third of the nodes.
  double share = 1, clusters = 0;
  for (int pass = 0; pass < parsing_passes; ++pass, share /= 3) {
    of_node += share * (of_layers(sizes.pool_layers) + of_pooling);
    clusters += share;
  }
  of_node += (sizes.scores_edges ? clusters / 3 : 1) * of_cluster;
  const double rows = nodes * of_node + (sizes.scores_edges ? edges * of_edge * clusters : 0);
  const double gradients = nodes * 6 + (sizes.scores_edges ? edges * 3 : 0);
  constexpr double of_device = 40;  // logits, probabilities, coefficients
  return sizeof(float) * static_cast<double>(sizes.hidden) * (2 * rows + gradients) +
         2 * of_device * nodes * static_cast<double>(sizes.devices + (sizes.scores_edges ? 0 : sizes.groups));
}

namespace {

template <class T>
constexpr T norm_epsilon = static_cast<T>(1e-5);  // PyTorch's

}  // namespace

template <class T>
HsdagPass<T>::HsdagPass(Tape<T>& tape, const HsdagNetwork& network, Matrix<const T> features,
                        const nn::Dropout& dropout)
    : tape_(tape), p_(network), dropout_(dropout) {
  const Var first = linear(tape.constant(features), p_.in_first, nn::Activation::none);
  const Var second = linear(norm_relu_drop(first, p_.in_first_norm), p_.in_second, nn::Activation::none);
  h_ = norm_relu_drop(second, p_.in_second_norm);
}

template <class T>
Var HsdagPass<T>::norm_relu_drop(Var x, const HsdagNetwork::Norm& norm) {
  return nn::norm_relu_drop(tape_, x, tape_.parameter(norm.gain), tape_.parameter(norm.offset), norm_epsilon<T>,
                            dropout_);
}

template <class T>
Var HsdagPass<T>::linear(Var x, const HsdagNetwork::Linear& layer, nn::Activation activation) {
  return nn::linear(tape_, x, tape_.parameter(layer.weight), tape_.parameter(layer.bias), activation);
}

// LN(h + y), where y is h after all layers.
template <class T>
Var HsdagPass<T>::gnn(const HsdagNetwork::Gnn& layers, const NodeGraph& graph) {
  Var y = h_;
  for (const HsdagNetwork::GraphLayer& layer : layers.layers) {
    Var x = mix(layer, graph, y);
    if (p_.sizes().encoder == HsdagEncoder::gin) x = linear(x, layer.inner, nn::Activation::relu);
    y = nn::linear_relu_drop(tape_, x, tape_.parameter(layer.linear.weight), tape_.parameter(layer.linear.bias),
                             dropout_);
  }
  return nn::add_norm(tape_, h_, y, tape_.parameter(layers.norm.gain), tape_.parameter(layers.norm.offset),
                      norm_epsilon<T>);
}

// Graph attention scores and adds up rows of x W. As the sums over neighbours and W are linear, W can follow them: the
// scores are x (W a), and the sums are those of x.
template <class T>
Var HsdagPass<T>::mix(const HsdagNetwork::GraphLayer& layer, const NodeGraph& graph, Var x) {
  if (p_.sizes().encoder == HsdagEncoder::gat) {
    const Var by = nn::matmul(tape_, tape_.parameter(layer.linear.weight), tape_.parameter(layer.attention));
    return nn::neighbour_attention(tape_, x, nn::matmul(tape_, x, by), graph.neighbours);
  }
  if (x.id == h_.id && !mixed_.is_none()) return mixed_;
  const Var mixed =
      p_.sizes().encoder == HsdagEncoder::gin
          ? nn::segment_sum(tape_, x, graph.neighbours)  // a node is in its own list: (1 + 0) x + neighbours
          : nn::symmetric_product(tape_, graph.neighbours, graph.weights, x);
  if (x.id == h_.id) mixed_ = mixed;
  return mixed;
}

template <class T>
Var HsdagPass<T>::residual(Var x, const HsdagNetwork::Residual& layer) {
  const Var sum =
      nn::residual_linear(tape_, x, tape_.parameter(layer.linear.weight), tape_.parameter(layer.linear.bias));
  return nn::layer_norm(tape_, sum, tape_.parameter(layer.norm.gain), tape_.parameter(layer.norm.offset),
                        norm_epsilon<T>);
}

template <class T>
Var HsdagPass<T>::edge_scores(const NodeGraph& graph) {
  const Var z = gnn(p_.gnn1, graph);
  const Var ends = nn::product_of_rows(tape_, z, graph.from, graph.to);
  const Var hidden = norm_relu_drop(linear(ends, p_.edge_first, nn::Activation::none), p_.edge_norm);
  return nn::project(tape_, hidden, tape_.parameter(p_.edge_second.weight), tape_.parameter(p_.edge_second.bias),
                     nn::Activation::sigmoid);
}

template <class T>
Var HsdagPass<T>::group_logits(const NodeGraph& graph) {
  return linear(gnn(p_.gnn1, graph), p_.group, nn::Activation::none);
}

template <class T>
void HsdagPass<T>::pool(const NodeGraph& graph, const Clusters& clusters, Var scores) {
  const Var q = residual(gnn(p_.gnn2, graph), p_.pre);
  h_ = residual(nn::segment_sum(tape_, q, clusters.members), p_.post);
  mixed_ = {};
  if (scores.is_none()) return;
  const Matrix<T> alone = tape_.matrix(clusters.count(), 1);
  std::ranges::copy(clusters.alone, alone.data);
  const Var within = nn::scale(tape_, nn::segment_sum(tape_, scores, clusters.inner), T{2});
  h_ = nn::scale_rows(tape_, h_, nn::add(tape_, within, tape_.constant(alone)));
}

template <class T>
typename HsdagPass<T>::Result HsdagPass<T>::finish() {
  const auto relu_drop = [&](Var x, const HsdagNetwork::Linear& layer) {
    return nn::linear_relu_drop(tape_, x, tape_.parameter(layer.weight), tape_.parameter(layer.bias), dropout_);
  };
  const Var embedding = relu_drop(relu_drop(h_, p_.out_first), p_.out_second);
  const Var hidden = linear(embedding, p_.head_first, nn::Activation::relu);
  return {embedding, linear(hidden, p_.head_second, nn::Activation::none)};
}

template class HsdagPass<float>;
template class HsdagPass<double>;

}  // namespace emplace::policy
