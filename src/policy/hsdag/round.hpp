// One round of HSDAG: from the features of a graph's nodes to clusters and the probabilities of their devices (Duan et
// al. 2024, docs/papers/hsdag.md, sections 2.3 and 2.4).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "nn/layers/categorical.hpp"
#include "policy/hsdag/network.hpp"

namespace emplace::policy {

// How nodes are assigned to clusters (HsdagOptions::grouping).
enum class HsdagGrouping : std::uint8_t { parsed, none, learned };
HsdagGrouping hsdag_grouping(const std::string& grouping);

// A problem of the training.
struct HsdagPart {
  const Grouping* units;
  NodeGraph graph;
  std::vector<float> features;  // N x F: X_0
};

// A round that is on a tape.
struct HsdagRound {
  nn::Categorical<float> groups;  // N x groups, only of learned groups
  nn::Categorical<float> devices;
  nn::Matrix<const float> embedding;
};

// The source of a round's clusters: they are drawn now, or were drawn before.
class HsdagDecisions {
 public:
  // Fills the clusters of one parsing pass.
  virtual void parsed(const NodeGraph& graph, std::span<const float> scores, Clusters& clusters) const = 0;
  // N: the group of each node.
  [[nodiscard]] virtual std::span<const std::uint8_t> grouped(const nn::Categorical<float>& groups) const = 0;

 protected:
  ~HsdagDecisions() = default;
};

// Computes the round on the tape, whose step must have begun with the network's parameters. `x` is N x F; `levels`
// belong to the tape.
HsdagRound hsdag_round(nn::Tape<float>& tape, const HsdagNetwork& network, HsdagGrouping grouping, int passes,
                       const HsdagPart& part, std::span<const float> x, const nn::Dropout& dropout, HsdagLevels& levels,
                       const HsdagDecisions& decisions);

// X_t = X_{t-1} + Z[c(v)].
void grow(std::vector<float>& x, nn::Matrix<const float> embedding, const HsdagLevels& levels);

}  // namespace emplace::policy
