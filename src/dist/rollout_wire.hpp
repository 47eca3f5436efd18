// What a LearnerWorkers's members and the master tell each other, as flat bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emplace/policy/policy.hpp"
#include "learn/learner_workers.hpp"
#include "learn/sampling.hpp"

namespace emplace::dist {

// A request for samples with the placements that it points to.
struct SentRequest {
  learn::SamplingRequest request;  // its `best` looks into the list here, which keeps its place when this is moved
  std::vector<Placement> best;

  SentRequest() = default;
  SentRequest(SentRequest&&) = default;
  SentRequest& operator=(SentRequest&&) = default;
};
std::vector<std::byte> pack(const learn::SamplingRequest& request);
SentRequest unpack_request(std::span<const std::byte> message);

// Samples begin .. begin + count - 1 of a request, drawn and evaluated; starts are not sent.
struct SentSamples {
  std::uint64_t begin = 0, count = 0;
  double seconds = 0;  // how long they took; steers who gets how many, never a result
  std::vector<policy::Rollout> rollouts;
};
std::vector<std::byte> pack(const SentSamples& samples);
SentSamples unpack_samples(std::span<const std::byte> message);

// Some chunks of a list of rollouts: an aligned run of 2^level, or what there is of it.
struct SentChunks {
  std::uint64_t first = 0;
  std::uint8_t level = 0;
  bool with_gradient = false;
  std::vector<policy::Rollout> rollouts;  // decisions alone
  std::vector<learn::LearnerWorkers::Chunk> chunks;
};
std::vector<std::byte> pack_chunks(std::uint64_t first, unsigned level, bool with_gradient,
                                   std::span<const policy::Rollout> rollouts,
                                   std::span<const learn::LearnerWorkers::Chunk> chunks);
SentChunks unpack_chunks(std::span<const std::byte> message);

// A chunk's log-probabilities.
struct SentLog {
  std::uint64_t chunk = 0;
  policy::LogProbabilities log;
};
std::vector<std::byte> pack_log(std::uint64_t chunk, const policy::LogProbabilities& log);
SentLog unpack_log(std::span<const std::byte> message);

}  // namespace emplace::dist
