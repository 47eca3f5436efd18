// The messages between the master and the workers that learn (LearnerWorkers), as flat bytes.
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
  learn::SamplingRequest request;  // its `best` points into the list below, also after a move
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
  double seconds = 0;  // how long they took; only used to balance the load
  std::vector<policy::Rollout> rollouts;
};
std::vector<std::byte> pack(const SentSamples& samples);
SentSamples unpack_samples(std::span<const std::byte> message);

// Some chunks of a list of rollouts: 2^level chunks from a multiple of 2^level on, or fewer at the end of the list.
struct SentChunks {
  std::uint64_t first = 0;
  std::uint8_t level = 0;
  bool with_gradient = false;
  std::vector<policy::Rollout> rollouts;  // with actions and observations only
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
