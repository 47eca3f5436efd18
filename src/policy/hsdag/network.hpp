// HSDAG's network (Duan et al. 2024, docs/papers/hsdag.md, section 2.3): nodes are embedded, parsed into clusters along
// the edges of highest score, and each cluster gets a device. No gradient flows through the assignment of nodes to
// clusters.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "nn/layers/ops.hpp"
#include "policy/hsdag/graph_parsing.hpp"

namespace emplace::policy {

// The layers of the graph networks: graph convolutions (Kipf, Welling 2017), graph attention with one head (Velickovic
// et al. 2018), or graph isomorphism layers with an epsilon of 0 (Xu et al. 2019).
enum class HsdagEncoder : std::uint8_t { gcn, gat, gin };
HsdagEncoder hsdag_encoder(const std::string& name);

struct HsdagSizes {
  std::size_t features = 0;  // F
  std::size_t hidden = 128;  // H
  std::size_t devices = 0;   // D
  int score_layers = 2, pool_layers = 1;
  // Either edges get scores (the paper's network), or nodes get logits over `groups` groups, or neither; layers that
  // are not needed are left out.
  bool scores_edges = true;
  std::size_t groups = 0;
  HsdagEncoder encoder = HsdagEncoder::gcn;
};

// The parameters, in one vector.
class HsdagNetwork {
 public:
  explicit HsdagNetwork(const HsdagSizes& sizes);

  struct Linear {
    nn::Slice weight, bias;
  };
  struct Norm {
    nn::Slice gain, offset;
  };
  struct GraphLayer {
    Linear inner;         // gin: the first of its two layers
    Linear linear;        // the last step: drop(relu(x W + b))
    nn::Slice attention;  // gat: H x 2, for the node that reads and for its neighbours
  };
  struct Gnn {
    std::vector<GraphLayer> layers;
    Norm norm;
  };
  struct Residual {
    Linear linear;
    Norm norm;
  };

  [[nodiscard]] const nn::ParameterLayout& layout() const { return layout_; }
  [[nodiscard]] const HsdagSizes& sizes() const { return sizes_; }

  Linear in_first, in_second;
  Norm in_first_norm, in_second_norm;
  Gnn gnn1;
  Linear edge_first, edge_second;
  Norm edge_norm;
  Linear group;
  Gnn gnn2;
  Residual pre, post;
  Linear out_first, out_second, head_first, head_second;

 private:
  Linear linear(const std::string& name, std::size_t in, std::size_t out);
  GraphLayer graph_layer(const std::string& name);
  Norm norm(const std::string& name);
  Gnn gnn(const std::string& name, int layers);
  Residual residual(const std::string& name);

  HsdagSizes sizes_;
  nn::ParameterLayout layout_;
};

// About how many bytes two passes over the graph take on tapes of floats: one with gradients, and one to draw.
double bytes_of_passes(const HsdagSizes& sizes, const NodeGraph& graph, int parsing_passes);

// One forward pass over a graph, step by step; between the steps the caller decides on the clusters. Graphs and
// clusters must stay valid until the tape's step ends.
template <class T>
class HsdagPass {
 public:
  // h = in_trans(X); X is N x F.
  HsdagPass(nn::Tape<T>& tape, const HsdagNetwork& network, nn::Matrix<const T> features, const nn::Dropout& dropout);

  // E x 1: s_e of each edge of the graph whose nodes are the rows of h.
  nn::Var edge_scores(const NodeGraph& graph);
  // N x groups.
  nn::Var group_logits(const NodeGraph& graph);
  // Replaces h by the rows of the clusters. If scores are given, a cluster's row is scaled by w_c = 2 x the sum of the
  // scores of the edges within it, or 1 for a cluster of one node.
  void pool(const NodeGraph& graph, const Clusters& clusters, nn::Var scores);

  struct Result {
    nn::Var embedding;  // Z, C x F
    nn::Var logits;     // C x D
  };
  Result finish();
  [[nodiscard]] nn::Var h() const { return h_; }

 private:
  nn::Var norm_relu_drop(nn::Var x, const HsdagNetwork::Norm& norm);
  nn::Var linear(nn::Var x, const HsdagNetwork::Linear& layer, nn::Activation activation);
  nn::Var gnn(const HsdagNetwork::Gnn& layers, const NodeGraph& graph);
  // What each node reads of itself and its neighbours.
  nn::Var mix(const HsdagNetwork::GraphLayer& layer, const NodeGraph& graph, nn::Var x);
  nn::Var residual(nn::Var x, const HsdagNetwork::Residual& layer);

  nn::Tape<T>& tape_;
  const HsdagNetwork& p_;
  nn::Dropout dropout_;
  nn::Var h_;
  nn::Var mixed_;  // of h, which both graph networks begin with unless they attend; none: not computed yet
};

// The clusterings of a forward pass: one for each parsing pass, as long as there are edges. The memory is reused.
struct HsdagLevels {
  std::vector<Clusters> clusters;
  std::vector<NodeGraph> coarser;              // the graph after each level but the last
  std::size_t count = 0;                       // of levels in use
  std::vector<std::uint32_t> cluster_of_node;  // N, at the end
  std::size_t cluster_count = 0;               // likewise
};

// Parses and pools up to `passes` times; decide(level, graph, edge scores, clusters) fills the clusters of each level.
template <class T, class Decide>
void pool_parsed(HsdagPass<T>& pass, const NodeGraph& graph, int passes, HsdagLevels& levels, Decide&& decide) {
  const auto most = static_cast<std::size_t>(passes);
  levels.clusters.resize(most);
  levels.coarser.resize(most);
  levels.cluster_of_node.resize(graph.nodes);
  std::iota(levels.cluster_of_node.begin(), levels.cluster_of_node.end(), 0U);
  levels.cluster_count = graph.nodes;
  const NodeGraph* now = &graph;
  for (levels.count = 0; levels.count < most && now->edges() > 0;) {
    Clusters& clusters = levels.clusters[levels.count];
    const nn::Var scores = pass.edge_scores(*now);
    decide(levels.count, *now, scores, clusters);
    pass.pool(*now, clusters, scores);
    for (std::uint32_t& cluster : levels.cluster_of_node) cluster = clusters.of_node[cluster];
    levels.cluster_count = clusters.count();
    if (++levels.count == most) break;
    coarsen(*now, clusters, levels.coarser[levels.count - 1]);
    now = &levels.coarser[levels.count - 1];
  }
}

}  // namespace emplace::policy
