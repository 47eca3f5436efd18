// The Hierarchical Planner's grouper at work: 256 units at a time (forward, draw or loss, backward), so that no matrix
// of ops x groups exists (docs/papers/hierarchical.md, section 2.6).
#pragma once

#include <span>
#include <vector>

#include "policy/common/logit_noise.hpp"
#include "policy/hierarchical/group_features.hpp"
#include "policy/hierarchical/network.hpp"

namespace emplace::policy {

// A grouping to draw: streams are keyed by (seed, update, index), so that all samples of an index share it.
struct GroupingDraw {
  std::uint64_t update = 0;
  std::uint32_t index = 0;
  bool greedy = false;
  std::vector<std::uint8_t> groups;  // U, drawn
  std::vector<float> scales;         // U, of the noise; empty where it has none
};

class Grouper {
 public:
  // `entropy_share`: of the groups' entropy, counted. `sharing`: so many samples of an update, one after the other,
  // have one grouping. The network outlives this.
  Grouper(const HierarchicalNetwork& network, const LogitNoise& noise, double entropy_share, std::uint64_t seed,
          std::uint32_t sharing)
      : network_(network), noise_(noise), entropy_share_(entropy_share), seed_(seed), sharing_(sharing) {}

  [[nodiscard]] std::uint32_t index_of(const Rollout& rollout) const { return rollout.sample / sharing_; }
  void draw(const UnitTable& units, std::span<const float> parameters, std::span<GroupingDraw> draws);
  // Each unit's group is equally likely.
  void draw_uniformly(std::size_t units, GroupingDraw& draw) const;

  // `members`: positions in `rollouts`, all of one problem. The first U actions are the groups, the first U heads their
  // log-probabilities; with a noise that has scales the first U observations are these. Adds to log.entropy.
  void forward(const UnitTable& units, std::span<const float> parameters, std::span<const Rollout> rollouts,
               std::span<const std::size_t> members, LogProbabilities& log);
  // `begin`: of the heads in `coefficients`.
  void backward(const UnitTable& units, std::span<const float> parameters, std::span<float> gradient,
                std::span<const Rollout> rollouts, std::span<const std::size_t> members,
                std::span<const std::size_t> begin, std::span<const double> coefficients, double entropy_weight);

 private:
  // Rollouts with the same logits: all without noise, those of one grouping with it.
  struct Fold {
    bool is_noisy;
    Stream noise;
    std::vector<std::size_t> members;
  };
  [[nodiscard]] std::vector<Fold> folds_of(std::span<const Rollout> rollouts,
                                           std::span<const std::size_t> members) const;
  [[nodiscard]] Stream noise_stream(std::uint64_t update, std::uint32_t index) const;
  // visit(first unit, logits) for 256 units at a time.
  template <class Visit>
  void for_each_chunk(const UnitTable& units, std::span<const float> parameters, std::span<float> gradient,
                      Visit&& visit);
  // The logits of a fold, from those of the chunk.
  nn::Var with_noise(nn::Var logits, std::size_t first, Fold& fold, std::span<const Rollout> rollouts);

  const HierarchicalNetwork& network_;
  LogitNoise noise_;
  double entropy_share_;
  std::uint64_t seed_;
  std::uint32_t sharing_;
  nn::Tape<float> tape_;
  Lists chunk_types_;
};

}  // namespace emplace::policy
