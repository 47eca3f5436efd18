#include "dist/rollout_wire.hpp"

#include <string>

#include "dist/pack.hpp"

namespace emplace::dist {

namespace {

// What forward() reads of a rollout: update u64, progress f64, problem, sample, round u32, lists of actions and
// observations.
void pack_decisions(Packer& packer, const policy::Rollout& rollout) {
  packer.number(rollout.update);
  packer.number(rollout.progress);
  packer.number(rollout.problem);
  packer.number(rollout.sample);
  packer.number(rollout.round);
  packer.list(rollout.actions);
  packer.list(rollout.observation);
}

void unpack_decisions(Unpacker& unpacker, policy::Rollout& rollout) {
  rollout.update = unpacker.number<std::uint64_t>();
  rollout.progress = unpacker.number<double>();
  rollout.problem = unpacker.number<std::uint32_t>();
  rollout.sample = unpacker.number<std::uint32_t>();
  rollout.round = unpacker.number<std::uint32_t>();
  rollout.actions = unpacker.list<std::uint8_t>();
  rollout.observation = unpacker.list<float>();
}

std::size_t bytes_of_decisions(const policy::Rollout& rollout) {
  return 36 + rollout.actions.size() + rollout.observation.size() * sizeof(float);
}

void pack_placement(Packer& packer, const Placement& placement) {
  packer.list(placement.device);
  packer.list(placement.order);
}

Placement unpack_placement(Unpacker& unpacker) {
  Placement placement;
  placement.device = unpacker.list<std::uint8_t>();
  placement.order = unpacker.list<std::uint32_t>();
  return placement;
}

}  // namespace

// seed u64, update u64, progress f64, samples u64, list of problems, greedy u8, schedule u8, first_in_evaluator u32,
// number of best u32, for each: there u8, placement.
std::vector<std::byte> pack(const learn::SamplingRequest& request) {
  Packer packer;
  packer.number(request.seed);
  packer.number(request.update);
  packer.number(request.progress);
  packer.number(static_cast<std::uint64_t>(request.samples));
  packer.list(request.problems);
  packer.number(static_cast<std::uint8_t>(request.greedy));
  packer.number(static_cast<std::uint8_t>(request.schedule));
  packer.number(request.first_in_evaluator);
  packer.number(static_cast<std::uint32_t>(request.best.size()));
  for (const Placement* best : request.best) {
    packer.number(static_cast<std::uint8_t>(best != nullptr));
    if (best != nullptr) pack_placement(packer, *best);
  }
  return packer.take();
}

SentRequest unpack_request(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  SentRequest sent;
  sent.request.seed = unpacker.number<std::uint64_t>();
  sent.request.update = unpacker.number<std::uint64_t>();
  sent.request.progress = unpacker.number<double>();
  sent.request.samples = unpacker.number<std::uint64_t>();
  sent.request.problems = unpacker.list<std::uint32_t>();
  sent.request.greedy = unpacker.number<std::uint8_t>() != 0;
  sent.request.schedule = static_cast<Schedule>(unpacker.number<std::uint8_t>());
  sent.request.first_in_evaluator = unpacker.number<std::uint32_t>();
  sent.best.resize(unpacker.count());
  for (Placement& best : sent.best) {
    const bool is_there = unpacker.number<std::uint8_t>() != 0;
    if (is_there) best = unpack_placement(unpacker);
    sent.request.best.push_back(is_there ? &best : nullptr);
  }
  unpacker.done();
  return sent;
}

// begin u64, count u64, seconds f64, rollouts u32, for each: decisions, placement, makespan i64, overflow i64, why u8,
// device u8, subject u32.
std::vector<std::byte> pack(const SentSamples& samples) {
  std::size_t bytes = 28;
  for (const policy::Rollout& rollout : samples.rollouts)
    bytes += bytes_of_decisions(rollout) + 30 + rollout.placement.device.size() + 4 * rollout.placement.order.size();
  Packer packer(bytes);
  packer.number(samples.begin);
  packer.number(samples.count);
  packer.number(samples.seconds);
  packer.number(static_cast<std::uint32_t>(samples.rollouts.size()));
  for (const policy::Rollout& rollout : samples.rollouts) {
    pack_decisions(packer, rollout);
    pack_placement(packer, rollout.placement);
    packer.number(rollout.outcome.makespan);
    packer.number(rollout.outcome.overflow);
    packer.number(static_cast<std::uint8_t>(rollout.outcome.why));
    packer.number(rollout.outcome.device);
    packer.number(rollout.outcome.subject);
  }
  return packer.take();
}

SentSamples unpack_samples(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  SentSamples samples;
  samples.begin = unpacker.number<std::uint64_t>();
  samples.count = unpacker.number<std::uint64_t>();
  samples.seconds = unpacker.number<double>();
  samples.rollouts.resize(unpacker.count());
  for (policy::Rollout& rollout : samples.rollouts) {
    unpack_decisions(unpacker, rollout);
    rollout.placement = unpack_placement(unpacker);
    rollout.outcome.makespan = unpacker.number<Ticks>();
    rollout.outcome.overflow = unpacker.number<Bytes>();
    rollout.outcome.why = static_cast<Infeasible>(unpacker.number<std::uint8_t>());
    rollout.outcome.device = unpacker.number<std::uint8_t>();
    rollout.outcome.subject = unpacker.number<std::uint32_t>();
  }
  unpacker.done();
  return samples;
}

// first u64, level u8, with_gradient u8, chunks u32, for each: entropy weight f64, rollouts u32, their decisions.
std::vector<std::byte> pack_chunks(std::uint64_t first, unsigned level, bool with_gradient,
                                   std::span<const policy::Rollout> rollouts,
                                   std::span<const learn::LearnerWorkers::Chunk> chunks) {
  std::size_t bytes = 14 + chunks.size() * 12;
  for (const learn::LearnerWorkers::Chunk& chunk : chunks) {
    EMPLACE_CHECK(chunk.begin <= chunk.end && chunk.end <= rollouts.size(), "{} to {} of {} rollouts", chunk.begin,
                  chunk.end, rollouts.size());
    for (std::size_t i = chunk.begin; i < chunk.end; ++i) bytes += bytes_of_decisions(rollouts[i]);
  }
  Packer packer(bytes);
  packer.number(first);
  packer.number(static_cast<std::uint8_t>(level));
  packer.number(static_cast<std::uint8_t>(with_gradient));
  packer.number(static_cast<std::uint32_t>(chunks.size()));
  for (const learn::LearnerWorkers::Chunk& chunk : chunks) {
    packer.number(chunk.entropy_weight);
    packer.number(static_cast<std::uint32_t>(chunk.end - chunk.begin));
    for (std::size_t i = chunk.begin; i < chunk.end; ++i) pack_decisions(packer, rollouts[i]);
  }
  return packer.take();
}

SentChunks unpack_chunks(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  SentChunks sent;
  sent.first = unpacker.number<std::uint64_t>();
  sent.level = unpacker.number<std::uint8_t>();
  sent.with_gradient = unpacker.number<std::uint8_t>() != 0;
  sent.chunks.resize(unpacker.count());
  for (learn::LearnerWorkers::Chunk& chunk : sent.chunks) {
    chunk.entropy_weight = unpacker.number<double>();
    chunk.begin = sent.rollouts.size();
    chunk.end = chunk.begin + unpacker.count();
    sent.rollouts.resize(chunk.end);
    for (std::size_t i = chunk.begin; i < chunk.end; ++i) unpack_decisions(unpacker, sent.rollouts[i]);
  }
  unpacker.done();
  return sent;
}

// chunk u64, lists of begins (u64), values and entropies (f64).
std::vector<std::byte> pack_log(std::uint64_t chunk, const policy::LogProbabilities& log) {
  Packer packer(20 + 8 * (log.begin.size() + log.value.size() + log.entropy.size()));
  packer.number(chunk);
  packer.list(log.begin);
  packer.list(log.value);
  packer.list(log.entropy);
  return packer.take();
}

SentLog unpack_log(std::span<const std::byte> message) {
  Unpacker unpacker(message);
  SentLog sent;
  sent.chunk = unpacker.number<std::uint64_t>();
  sent.log.begin = unpacker.list<std::size_t>();
  sent.log.value = unpacker.list<double>();
  sent.log.entropy = unpacker.list<double>();
  unpacker.done();
  return sent;
}

}  // namespace emplace::dist
