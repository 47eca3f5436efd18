// The Hierarchical Planner's placer: it encodes the groups once and draws devices for them for several samples.
#pragma once

#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "policy/common/forced_steps.hpp"
#include "policy/common/logit_noise.hpp"
#include "policy/hierarchical/network.hpp"

namespace emplace::policy {

// The placer's input: one grouping of one problem's units.
struct GroupView {
  std::vector<float> features;        // G x F_g
  std::vector<std::uint8_t> allowed;  // G x D, at least one 1 in each row
};

// Blocks of neighbouring groups whose devices are drawn with one random number: at first `coarsest`, then twice as many
// level by level, and after `share` of the training's budget one for each group. coarsest = 0: always so.
struct GroupBlocks {
  std::size_t coarsest = 0;
  double share = 0;

  [[nodiscard]] std::size_t count(double progress, std::size_t groups) const;
};

class Placer {
 public:
  // The network must outlive the placer.
  Placer(const HierarchicalNetwork& network, const LogitNoise& noise, const GroupBlocks& blocks, std::uint64_t seed)
      : network_(network), noise_(noise), blocks_(blocks), seed_(seed) {}

  // Draws a device for each group and appends the G devices to the actions of each member's last round; if the noise
  // has scales, they are appended to its observation.
  void draw(const GroupView& groups, std::span<const float> parameters, std::span<const SampleSlot> slots,
            std::span<const std::size_t> members);

  // Teacher forcing of the members' last G actions: a row t B + b for each step and member, on the tape until the next
  // call. `gradient` may be empty.
  const nn::Categorical<float>& run(const GroupView& groups, std::span<const float> parameters,
                                    std::span<float> gradient, std::span<const Rollout> rollouts,
                                    std::span<const std::size_t> members);
  // Adds the gradient; must follow run() of the same members. `begin` (rollouts + 1): where each rollout's heads begin
  // in `coefficients`; the last G heads of a rollout are the placer's.
  void backward(std::span<const std::size_t> members, std::span<const std::size_t> begin,
                std::span<const double> coefficients, double entropy_weight);

 private:
  [[nodiscard]] Stream noise_stream(const Rollout& rollout) const;
  [[nodiscard]] nn::Matrix<const float> matrix_of(const GroupView& groups) const;

  const HierarchicalNetwork& network_;
  LogitNoise noise_;
  GroupBlocks blocks_;
  std::uint64_t seed_;
  nn::Tape<float> tape_;
  ForcedSteps forced_;  // of the last run()
  nn::Categorical<float> rows_;
};

}  // namespace emplace::policy
