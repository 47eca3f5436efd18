// Batches and contributions of asynchronous controllers as bytes, and the plan that all ranks get first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dist/clients.hpp"
#include "dist/rollout_wire.hpp"
#include "learn/controllers.hpp"

namespace emplace::dist {

std::vector<std::byte> pack(const ControllerPlan& plan);
// The plan without its policy, whose bytes are for restore_policy().
struct SentControllerPlan {
  std::size_t controllers = 1;
  std::string learner;
  ConfigTable learner_options;
  std::uint64_t seed = 0;
  std::vector<std::byte> policy;
};
// The message must come from pack() of the same program: the archive is not checked.
SentControllerPlan unpack_controller_plan(std::span<const std::byte> message);

// request: size u64, bytes; state; parameters: count u64, f32 x count. A state is its number of arrays u32, then for
// each: name, list of its shape u64, type u8 (the variant's index), list of its values.
std::vector<std::byte> pack_batch(const learn::SamplingRequest& request, const State& state,
                                  std::span<const float> parameters);
struct SentBatch {
  SentRequest request;
  State state;
  std::vector<float> parameters;
};
SentBatch unpack_batch(std::span<const std::byte> message);

// rollouts: size u64, bytes as of SentSamples; report: progress, baseline, entropy, entropy_weight f64, used_samples
// u64; state; gradient: count u64, f32 x count. The controller's number follows from the sender.
std::vector<std::byte> pack(const learn::Contribution& contribution);
learn::Contribution unpack_contribution(std::span<const std::byte> message);

}  // namespace emplace::dist
