#include "policy/hierarchical/placer.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "policy/common/categorical_draw.hpp"
#include "policy/common/network_policy.hpp"
#include "policy/common/unit_levels.hpp"

namespace emplace::policy {

std::size_t GroupBlocks::count(double progress, std::size_t groups) const {
  if (coarsest == 0) return groups;
  std::size_t levels = 1;
  for (std::size_t blocks = coarsest; blocks < groups; blocks *= 2) ++levels;
  return std::min(groups, coarsest << level_at(progress, share, levels));
}

Stream Placer::noise_stream(const Rollout& rollout) const {
  return Stream({.seed = seed_, .purpose = Purpose::placer_noise, .update = rollout.update, .index = rollout.sample});
}

nn::Matrix<const float> Placer::matrix_of(const GroupView& groups) const {
  return {groups.features.data(), network_.sizes.groups, network_.sizes.group_features()};
}

void Placer::draw(const GroupView& groups, std::span<const float> parameters, std::span<const SampleSlot> slots,
                  std::span<const std::size_t> members) {
  const std::size_t devices = network_.sizes.devices;
  tape_.begin(parameters, {});
  PlacerSteps<float> step(tape_, network_, encode_groups<float>(tape_, network_, matrix_of(groups)), members.size());
  std::vector<std::uint32_t> previous(members.size(), static_cast<std::uint32_t>(devices));  // GO
  std::vector<float> noise(devices), weights(devices);
  std::vector<Stream> noises;
  std::vector<std::vector<double>> uniform;  // by member and block; none for the likeliest devices
  for (const std::size_t i : members) {
    const Rollout& rollout = slots[i].rounds.back();
    noises.push_back(noise_stream(rollout));
    const std::size_t blocks = slots[i].greedy ? 0 : blocks_.count(rollout.progress, network_.sizes.groups);
    uniform.push_back(uniform_numbers(*slots[i].stream, blocks));
  }
  for (std::size_t t = 0; t < network_.sizes.groups; ++t) {
    const nn::Matrix<float> logits = step(previous);
    require_finite(logits.all());
    const std::span<const std::uint8_t> allowed = std::span(groups.allowed).subspan(t * devices, devices);
    for (std::size_t b = 0; b < members.size(); ++b) {
      const SampleSlot& each = slots[members[b]];
      Rollout& rollout = each.rounds.back();
      const std::span<float> row = logits.row(b);
      if (!each.greedy && noise_.is_on(rollout.progress)) {
        const float scale = noise_.scale_of(row);
        if (noise_.has_scale()) rollout.observation.push_back(scale);
        noise_.draw(noises[b], scale, noise);
        for (std::size_t d = 0; d < devices; ++d) row[d] += noise[d];
      }
      const std::size_t block = t * uniform[b].size() / network_.sizes.groups;
      const std::uint8_t device = each.greedy ? likeliest<float>(row, allowed)
                                              : emplace::policy::draw<float>(row, allowed, uniform[b][block], weights);
      rollout.actions.push_back(device);
      previous[b] = device;
    }
  }
}

const nn::Categorical<float>& Placer::run(const GroupView& groups, std::span<const float> parameters,
                                          std::span<float> gradient, std::span<const Rollout> rollouts,
                                          std::span<const std::size_t> members) {
  const std::size_t steps = network_.sizes.groups, devices = network_.sizes.devices, batch = members.size();
  tape_.begin(parameters, gradient);
  forced_ = forced_steps(tape_, rollouts, members, groups.allowed, devices);
  const bool is_noisy = std::ranges::any_of(members, [&](std::size_t s) { return noise_.is_on(rollouts[s].progress); });
  const DecoderMemory encoding = encode_groups<float>(tape_, network_, matrix_of(groups));
  nn::Var logits = decode_groups<float>(tape_, network_, encoding, forced_.previous, batch);
  require_finite(tape_.value(logits).all());
  if (is_noisy) {
    const nn::Matrix<float> noise = tape_.matrix(steps * batch, devices);
    std::ranges::fill(noise.all(), 0.0F);
    for (std::size_t b = 0; b < batch; ++b) {
      const Rollout& rollout = rollouts[members[b]];
      if (!noise_.is_on(rollout.progress)) continue;
      Stream stream = noise_stream(rollout);
      EMPLACE_CHECK(!noise_.has_scale() || rollout.observation.size() >= steps);
      for (std::size_t t = 0; t < steps; ++t)
        noise_.draw(stream, noise_.has_scale() ? std::span(rollout.observation).last(steps)[t] : 1.0F,
                    noise.row(t * batch + b));
    }
    logits = add(tape_, logits, tape_.constant(noise));
  }
  rows_ = nn::categorical<float>(tape_, logits, forced_.allowed);
  return rows_;
}

void Placer::backward(std::span<const std::size_t> members, std::span<const std::size_t> begin,
                      std::span<const double> coefficients, double entropy_weight) {
  const std::size_t steps = network_.sizes.groups, batch = members.size();
  const std::span<double> weights = tape_.array<double>(steps * batch);
  for (std::size_t b = 0; b < batch; ++b) {
    const double* ours = coefficients.data() + begin[members[b] + 1] - steps;
    for (std::size_t t = 0; t < steps; ++t) weights[t * batch + b] = ours[t];
  }
  nn::seed<float>(tape_, rows_, forced_.actions, weights, entropy_weight);
  tape_.backward();
}

}  // namespace emplace::policy
