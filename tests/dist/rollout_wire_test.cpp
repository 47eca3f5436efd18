#include "dist/rollout_wire.hpp"

#include <gtest/gtest.h>

#include "emplace/base/error.hpp"

namespace emplace::dist::rollout_wire_test {
namespace {

policy::Rollout some_rollout(std::uint32_t sample, std::uint32_t round) {
  policy::Rollout rollout;
  rollout.update = 1'000'000'000'000 + sample;
  rollout.problem = sample % 2;
  rollout.sample = sample;
  rollout.round = round;
  rollout.actions.assign(3 + round, static_cast<std::uint8_t>(200 + sample));
  rollout.observation.assign(round, 0.5F * static_cast<float>(sample));
  rollout.placement = {{0, 1, 2}, {2, 0, 1}};
  rollout.outcome = {77, 5, Infeasible::memory, 2, sample};
  return rollout;
}

void expect_decisions(const policy::Rollout& got, const policy::Rollout& wanted) {
  EXPECT_EQ(got.update, wanted.update);
  EXPECT_EQ(got.problem, wanted.problem);
  EXPECT_EQ(got.sample, wanted.sample);
  EXPECT_EQ(got.round, wanted.round);
  EXPECT_EQ(got.actions, wanted.actions);
  EXPECT_EQ(got.observation, wanted.observation);
}

// Unpacks the message cut at every length, and one that is too long: all must be refused.
template <class Unpack>
void expect_whole(std::vector<std::byte> message, const Unpack& unpack) {
  for (std::size_t size = 0; size < message.size(); ++size)
    EXPECT_THROW(unpack(std::span(message).first(size)), BugError) << size;
  message.push_back(std::byte{0});
  EXPECT_THROW(unpack(message), BugError);
}

TEST(RolloutWire, BringsARequestBackWithItsPlacements) {
  const Placement best{{1, 0}, {1, 0}};
  const learn::SamplingRequest request{.seed = 1ULL << 60,
                                       .update = 3,
                                       .samples = 9,
                                       .problems = {0, 4},
                                       .greedy = true,
                                       .schedule = Schedule::in_order,
                                       .best = {nullptr, &best},
                                       .first_in_evaluator = 6};
  const std::vector<std::byte> message = pack(request);
  SentRequest first = unpack_request(message);
  const SentRequest sent = std::move(first);  // as a worker keeps it
  EXPECT_EQ(sent.request.seed, request.seed);
  EXPECT_EQ(sent.request.update, 3U);
  EXPECT_EQ(sent.request.samples, 9U);
  EXPECT_EQ(sent.request.problems, request.problems);
  EXPECT_TRUE(sent.request.greedy);
  EXPECT_EQ(sent.request.schedule, Schedule::in_order);
  EXPECT_EQ(sent.request.first_in_evaluator, 6U);
  ASSERT_EQ(sent.request.best.size(), 2U);
  EXPECT_EQ(sent.request.best[0], nullptr);
  ASSERT_EQ(sent.request.best[1], &sent.best[1]);
  EXPECT_EQ(*sent.request.best[1], best);
  expect_whole(message, [](std::span<const std::byte> bytes) { unpack_request(bytes); });
}

TEST(RolloutWire, BringsSamplesBackWithOutcomes) {
  SentSamples samples{5, 2, 0.25, {some_rollout(5, 0), some_rollout(5, 1), some_rollout(6, 0)}};
  const std::vector<std::byte> message = pack(samples);
  const SentSamples back = unpack_samples(message);
  EXPECT_EQ(back.begin, 5U);
  EXPECT_EQ(back.count, 2U);
  EXPECT_EQ(back.seconds, 0.25);
  ASSERT_EQ(back.rollouts.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    expect_decisions(back.rollouts[i], samples.rollouts[i]);
    EXPECT_EQ(back.rollouts[i].placement, samples.rollouts[i].placement);
    EXPECT_EQ(back.rollouts[i].outcome, samples.rollouts[i].outcome);
  }
  expect_whole(message, [](std::span<const std::byte> bytes) { unpack_samples(bytes); });
}

TEST(RolloutWire, BringsChunksBackWithTheirDecisions) {
  const std::vector<policy::Rollout> rollouts = {some_rollout(0, 0), some_rollout(0, 1), some_rollout(1, 0),
                                                 some_rollout(2, 0)};
  const std::vector<learn::LearnerWorkers::Chunk> chunks = {{1, 3, 0.5}, {3, 4, 0.25}};
  const std::vector<std::byte> message = pack_chunks(4, 1, true, rollouts, chunks);
  const SentChunks sent = unpack_chunks(message);
  EXPECT_EQ(sent.first, 4U);
  EXPECT_EQ(sent.level, 1);
  EXPECT_TRUE(sent.with_gradient);
  ASSERT_EQ(sent.rollouts.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) expect_decisions(sent.rollouts[i], rollouts[i + 1]);
  ASSERT_EQ(sent.chunks.size(), 2U);
  EXPECT_EQ(sent.chunks[0].begin, 0U);
  EXPECT_EQ(sent.chunks[0].end, 2U);
  EXPECT_EQ(sent.chunks[0].entropy_weight, 0.5);
  EXPECT_EQ(sent.chunks[1].end, 3U);
  EXPECT_EQ(sent.chunks[1].entropy_weight, 0.25);
  expect_whole(message, [](std::span<const std::byte> bytes) { unpack_chunks(bytes); });
}

TEST(RolloutWire, BringsLogProbabilitiesBack) {
  policy::LogProbabilities log;
  log.begin = {0, 2, 3};
  log.value = {-0.5, -1e300, -0.0};
  log.entropy = {0.25, 0};
  const std::vector<std::byte> message = pack_log(7, log);
  const SentLog sent = unpack_log(message);
  EXPECT_EQ(sent.chunk, 7U);
  EXPECT_EQ(sent.log.begin, log.begin);
  EXPECT_EQ(sent.log.value, log.value);
  EXPECT_EQ(sent.log.entropy, log.entropy);
  expect_whole(message, [](std::span<const std::byte> bytes) { unpack_log(bytes); });
}

}  // namespace
}  // namespace emplace::dist::rollout_wire_test
