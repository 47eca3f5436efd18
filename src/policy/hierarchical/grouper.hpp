// The Hierarchical Planner's grouper. It processes 256 units at a time (forward, draw or loss, backward), so that it
// never needs a matrix of all ops x groups (docs/papers/hierarchical.md, section 2.6).
#pragma once

#include <span>
#include <vector>

#include "policy/common/logit_noise.hpp"
#include "policy/hierarchical/group_features.hpp"
#include "policy/hierarchical/network.hpp"

namespace emplace::policy {

// A grouping to draw. Its streams are keyed by (seed, update, index), so that all samples of an index share the
// grouping.
struct GroupingDraw {
  std::uint64_t update = 0;
  std::uint32_t index = 0;
  double progress = 1;  // Rollout::progress
  bool greedy = false;
  std::vector<std::uint8_t> groups;  // U, drawn
  std::vector<float> scales;         // U: scales of the noise; empty if it has none
};

class Grouper {
 public:
  // `entropy_share`: the share of the groups' entropy that log.entropy counts. `sharing`: the number of consecutive
  // samples of an update that share one grouping. The network must outlive the grouper.
  Grouper(const HierarchicalNetwork& network, const LogitNoise& noise, double entropy_share, std::uint64_t seed,
          std::uint32_t sharing)
      : network_(network), noise_(noise), entropy_share_(entropy_share), seed_(seed), sharing_(sharing) {}

  [[nodiscard]] std::uint32_t index_of(const Rollout& rollout) const { return rollout.sample / sharing_; }
  // About how many bytes the tape needs for the gradient of so many groupings.
  [[nodiscard]] double bytes(double groupings) const;
  void draw(const UnitTable& units, std::span<const float> parameters, std::span<GroupingDraw> draws);
  // Draws each unit's group uniformly.
  void draw_uniformly(std::size_t units, GroupingDraw& draw) const;

  // `members`: positions in `rollouts`, all of one problem. The first U actions are the groups, the first U heads their
  // log-probabilities; if the noise has scales, they are the first U observations. Writes log.value and adds to
  // log.entropy.
  void forward(const UnitTable& units, std::span<const float> parameters, std::span<const Rollout> rollouts,
               std::span<const std::size_t> members, LogProbabilities& log);
  // `begin`: where each rollout's heads begin in `coefficients`.
  void backward(const UnitTable& units, std::span<const float> parameters, std::span<float> gradient,
                std::span<const Rollout> rollouts, std::span<const std::size_t> members,
                std::span<const std::size_t> begin, std::span<const double> coefficients, double entropy_weight);

 private:
  // Rollouts with the same logits: all of them without noise, those of one grouping with noise.
  struct Fold {
    bool is_noisy;
    Stream noise;
    std::vector<std::size_t> members;
  };
  [[nodiscard]] std::vector<Fold> folds_of(std::span<const Rollout> rollouts,
                                           std::span<const std::size_t> members) const;
  [[nodiscard]] Stream noise_stream(std::uint64_t update, std::uint32_t index) const;
  // Calls visit(first unit, logits) for each chunk of 256 units.
  template <class Visit>
  void for_each_chunk(const UnitTable& units, std::span<const float> parameters, std::span<float> gradient,
                      Visit&& visit);
  // Rows x groups, of the units with these values of UnitTable::order: minus the option order_prior times the squared
  // distance, in groups, between the unit's place in that order and the group's.
  nn::Var order_prior(std::span<const float> order);
  // The logits of a fold: those of the chunk plus the fold's noise.
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
