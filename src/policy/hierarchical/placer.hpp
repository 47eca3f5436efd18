// The Hierarchical Planner's placer at work: one encoding of the groups, several samples of devices for them.
#pragma once

#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "policy/common/forced_steps.hpp"
#include "policy/common/logit_noise.hpp"
#include "policy/hierarchical/network.hpp"

namespace emplace::policy {

// One grouping of one problem's units as the placer sees it.
struct GroupView {
  std::vector<float> features;        // G x F_g
  std::vector<std::uint8_t> allowed;  // G x D, at least one a row
};

class Placer {
 public:
  // The network outlives this.
  Placer(const HierarchicalNetwork& network, const LogitNoise& noise, std::uint64_t seed)
      : network_(network), noise_(noise), seed_(seed) {}

  // A device for each group becomes the last G actions of each member's last round; with a noise that has scales these
  // are appended to its observations.
  void draw(const GroupView& groups, std::span<const float> parameters, std::span<const SampleSlot> draws,
            std::span<const std::size_t> members);

  // Teacher forcing of the members' last G actions: a row t B + b for each step and member, on the tape until the next
  // call. `gradient` may be empty.
  const nn::Categorical<float>& run(const GroupView& groups, std::span<const float> parameters,
                                    std::span<float> gradient, std::span<const Rollout> rollouts,
                                    std::span<const std::size_t> members);
  // After run() of the same members: adds the gradient. `begin`: of each rollout's heads in `coefficients`, of which
  // the last G are ours, and after the last one the end.
  void backward(std::span<const std::size_t> members, std::span<const std::size_t> begin,
                std::span<const double> coefficients, double entropy_weight);

 private:
  [[nodiscard]] Stream noise_stream(const Rollout& rollout) const;
  [[nodiscard]] nn::Matrix<const float> matrix_of(const GroupView& groups) const;

  const HierarchicalNetwork& network_;
  LogitNoise noise_;
  std::uint64_t seed_;
  nn::Tape<float> tape_;
  ForcedSteps forced_;  // of the last run()
  nn::Categorical<float> rows_;
};

}  // namespace emplace::policy
