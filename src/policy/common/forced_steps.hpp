// Teacher forcing: the drawn devices as inputs and targets of a decoder in training.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "emplace/base/error.hpp"
#include "emplace/policy/policy.hpp"
#include "nn/tape/tape.hpp"

namespace emplace::policy {

// T steps of B samples, row t B + b, in the tape's arena.
struct ForcedSteps {
  std::span<std::uint32_t> previous;  // T B: the device of the previous step; D (GO) in the first step
  std::span<std::uint8_t> actions;    // T B
  std::span<std::uint8_t> allowed;    // T B x D
};

// Sample b's devices are the last T actions of rollouts[members[b]]; `allowed` is T x D.
inline ForcedSteps forced_steps(nn::Tape<float>& tape, std::span<const Rollout> rollouts,
                                std::span<const std::size_t> members, std::span<const std::uint8_t> allowed,
                                std::size_t devices) {
  const std::size_t steps = allowed.size() / devices, batch = members.size();
  ForcedSteps forced;
  forced.previous = tape.array<std::uint32_t>(steps * batch);
  forced.actions = tape.array<std::uint8_t>(steps * batch);
  forced.allowed = tape.array<std::uint8_t>(steps * batch * devices);
  for (std::size_t b = 0; b < batch; ++b) {
    const std::span<const std::uint8_t> all = rollouts[members[b]].actions;
    EMPLACE_CHECK(all.size() >= steps);
    const std::span<const std::uint8_t> device = all.last(steps);
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t row = t * batch + b;
      forced.previous[row] = t == 0 ? static_cast<std::uint32_t>(devices) : device[t - 1];
      forced.actions[row] = device[t];
      std::ranges::copy(allowed.subspan(t * devices, devices), forced.allowed.subspan(row * devices).begin());
    }
  }
  return forced;
}

}  // namespace emplace::policy
