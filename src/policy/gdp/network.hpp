// GDP's network: GraphSAGE over the nodes of a graph, then a segment-wise Transformer that places them, gated by the
// graph (docs/papers/gdp.md, sections 2.2 to 2.4; GO's gating, refinement and scheduling head, 2.3 and 2.5). H: hidden
// width, N: nodes, D: devices, L: priority levels.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/layers/ops.hpp"
#include "nn/tape/parameters.hpp"

namespace emplace::policy {

// How the graph gates the placer: not at all; with a gate for each node at the input of every dense layer (GDP); or
// with one gate for the whole graph at the start of each layer (GO).
enum class Superposition : std::uint8_t { none, per_node, graph };

struct GdpSizes {
  std::size_t types = 0, type_width = 32;
  std::size_t features = 0;         // columns besides the type's embedding
  std::size_t decision = 0;         // columns of a node's previous decisions (GO); 0: none
  std::size_t devices = 0;          // of the head; unused if devices have features
  std::size_t device_features = 0;  // columns of a device's features; 0: the head has a column for each device
  std::size_t pair_features = 0;    // columns of a node's features on each device; 0: none
  std::size_t priority_levels = 0;  // L (GO); 0: no scheduling head
  std::size_t hidden = 128, graph_layers = 4;
  std::size_t placer_layers = 3, heads = 4, feedforward = 512, segment = 128;
  Superposition superposition = Superposition::per_node;
  bool attention = true, memory = true;
  bool centered = false;    // the placer reads embeddings minus the graph's mean
  double head_gain = 0.01;  // small, so that the first policy is nearly uniform
};

struct GdpNetwork {
  explicit GdpNetwork(const GdpSizes& of);

  struct Linear {
    nn::Slice weight, bias;
  };
  struct Norm {
    nn::Slice gain, bias;
  };
  struct GraphLayer {
    Linear pool, join;
  };
  struct PlacerLayer {
    nn::Slice query, key, value, output;  // of size 0 without attention
    Norm after_attention, after_feedforward, gated;
    Linear widen, narrow;
  };

  GdpSizes sizes;
  nn::ParameterLayout layout;
  nn::Slice type_table;
  Linear input;
  std::vector<GraphLayer> graph;
  PlacerLayer conditioner;  // per_node
  Linear gate;              // graph
  std::vector<PlacerLayer> placer;
  Linear head;      // H x D, or H x H where devices have features
  Linear device;    // device_features x H
  Linear pair;      // H x pair_features
  Linear schedule;  // H x L

 private:
  Linear add_linear(const std::string& name, std::size_t rows, std::size_t columns, double gain = 1);
  PlacerLayer add_placer_layer(const std::string& name, double last_gain, bool attention, bool gated);
};

// About how many bytes the values and gradients of one node take on a tape of floats.
double bytes_per_node(const GdpSizes& sizes);

template <class T>
struct GdpInput {
  const Lists* types;             // N lists: the types of the node's ops
  nn::Matrix<const T> features;   // N x features
  nn::Matrix<const T> decisions;  // N x decision
  const Lists* neighbours;        // N lists of nodes
  const Lists* all;               // one list of all nodes
  nn::Matrix<const T> devices;    // D x device_features
  nn::Matrix<const T> pairs;      // N x (D x pair_features)
};

// The embedding and the gate are for tests.
struct GdpResult {
  nn::Var embedding;   // N x H: x0
  nn::Var gate;        // Gamma: N x H, 1 x H, or none
  nn::Var logits;      // N x D
  nn::Var priorities;  // N x L logits, or none
};
template <class T>
GdpResult gdp_network(nn::Tape<T>& tape, const GdpNetwork& network, const GdpInput<T>& input);

}  // namespace emplace::policy
