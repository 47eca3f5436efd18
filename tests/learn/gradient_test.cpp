#include "learn/gradient.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/not_finite.hpp"
#include "tests/learn/drawn.hpp"

namespace emplace::learn::gradient_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Coefficients that differ from head to head, whatever the chunks.
void uneven(const ChunkedGradient::Chunk& chunk, std::span<double> coefficients) {
  for (std::size_t s = 0; s < chunk.rollouts.size(); ++s)
    for (std::size_t h = chunk.log->begin[s]; h < chunk.log->begin[s + 1]; ++h)
      coefficients[h] = std::sin(static_cast<double>(100 * (chunk.first_rollout + s) + h - chunk.log->begin[s] + 1));
}

std::vector<float> gradient_in_chunks(Drawn& drawn, std::size_t samples) {
  ChunkedGradient(samples).compute(*drawn.policy, drawn.rollouts, uneven, 0.3);
  return {drawn.policy->gradient().begin(), drawn.policy->gradient().end()};
}

TEST(ChunkedGradient, IsTheSameUpToRoundingForEveryChunkSize) {
  for (const char* name : {"post", "chain", "episode"}) {
    Drawn drawn(name, 7);
    const auto whole = gradient_in_chunks(drawn, 100);
    double largest = 0;
    for (const float slope : whole) largest = std::max(largest, std::abs(static_cast<double>(slope)));
    EXPECT_GT(largest, 0.1) << name;
    for (const std::size_t samples : {1, 2, 3, 5}) {
      const auto pieces = gradient_in_chunks(drawn, samples);
      for (std::size_t i = 0; i < whole.size(); ++i)
        EXPECT_NEAR(pieces[i], whole[i], 1e-5 * largest) << name << samples;
      EXPECT_EQ(gradient_in_chunks(drawn, samples), pieces) << "the same bits for the same chunks";
    }
  }
}

TEST(ChunkedGradient, IsThePolicysOwnForOneChunk) {
  Drawn drawn("chain", 6);
  policy::LogProbabilities log;
  drawn.policy->forward(drawn.rollouts, log);
  std::vector<double> coefficients(log.value.size());
  uneven({0, drawn.rollouts, &log}, coefficients);
  std::ranges::fill(drawn.policy->gradient(), 0.0f);
  drawn.policy->backward(drawn.rollouts, coefficients, 0.3);
  const std::vector<float> plain(drawn.policy->gradient().begin(), drawn.policy->gradient().end());
  EXPECT_EQ(gradient_in_chunks(drawn, 12), plain);
}

TEST(ChunkedGradient, ShowsThePolicyWholeSamplesOfOneChunkAtATime) {
  // Two problems of 5 and 4 ops, 4 episodes each: 6 and 5 rounds; chunks of 3 samples hold at most 18 rollouts.
  Drawn drawn("episode", 4);
  ChunkedGradient gradient(3);
  std::vector<std::size_t> firsts, sizes;
  gradient.compute(
      *drawn.policy, drawn.rollouts,
      [&](const ChunkedGradient::Chunk& chunk, std::span<double>) {
        firsts.push_back(chunk.first_rollout);
        sizes.push_back(chunk.rollouts.size());
        EXPECT_EQ(chunk.rollouts.front().round, 0u);
      },
      0);
  EXPECT_THAT(firsts, ElementsAre(0, 18, 34));
  EXPECT_THAT(sizes, ElementsAre(18, 16, 10));
  EXPECT_EQ(dynamic_cast<TablePolicy&>(*drawn.policy).largest_forward, 18u);
}

TEST(ChunkedGradient, ListsLogProbabilitiesAsOneForwardDoes) {
  for (const char* name : {"post", "chain", "episode"}) {
    Drawn drawn(name, 5);
    policy::LogProbabilities whole, pieces;
    drawn.policy->forward(drawn.rollouts, whole);
    ChunkedGradient(2).forward(*drawn.policy, drawn.rollouts, pieces);
    EXPECT_EQ(pieces.begin, whole.begin);
    EXPECT_EQ(pieces.value, whole.value);
    EXPECT_EQ(pieces.entropy, whole.entropy);
    EXPECT_DOUBLE_EQ(mean_entropy(pieces), mean_entropy(whole));
  }
}

std::string refusal(Drawn& drawn, double coefficient) {
  try {
    ChunkedGradient(4).compute(
        *drawn.policy, drawn.rollouts,
        [&](const ChunkedGradient::Chunk&, std::span<double> c) { std::ranges::fill(c, coefficient); }, 0);
  } catch (const NotFinite& error) {
    return error.what();
  }
  return "none";
}

TEST(ChunkedGradient, RefusesNumbersThatAreNotFinite) {
  Drawn drawn("chain", 4);
  EXPECT_EQ(refusal(drawn, 1), "none");
  EXPECT_THAT(refusal(drawn, std::numeric_limits<double>::infinity()), HasSubstr("coefficient"));
  drawn.policy->parameters()[0] = std::nanf("");
  EXPECT_THAT(refusal(drawn, 1), HasSubstr("log-probability is not finite (nan)"));
}

TEST(ChunkedGradient, TakesAnImpossibleActionWhoseCoefficientIsZero) {
  // log p = -infinity for the action that a sample of the first op took.
  Drawn drawn("chain", 4);
  drawn.policy->parameters()[0] = -1e30f;
  drawn.policy->parameters()[1] = 1e30f;
  drawn.rollouts.front().actions.front() = 0;
  EXPECT_EQ(refusal(drawn, 0), "none");
  EXPECT_THAT(refusal(drawn, 1), HasSubstr("-inf"));
}

}  // namespace
}  // namespace emplace::learn::gradient_test
