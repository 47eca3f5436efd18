// Gradients of Post's policy against docs/papers/post.md, section 7, items 4 and 5.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tests/learn/training.hpp"

namespace emplace::learn::post_gradient_test {
namespace {

using namespace test;
using ::testing::Each;
using ::testing::FloatNear;

// By enumeration of all placements on two devices.
struct Exact {
  double mean = 0;
  std::vector<float> gradient;
};

Exact enumerate(Training& training) {
  const std::size_t ops = training.problems.front().op_count();
  std::vector<policy::Rollout> all;
  for (std::size_t code = 0; code < std::size_t{1} << ops; ++code) {
    policy::Rollout rollout;
    for (std::size_t op = 0; op < ops; ++op) rollout.actions.push_back(code >> op & 1);
    rollout.placement.device = rollout.actions;
    all.push_back(std::move(rollout));
  }
  std::vector<evaluate::EvaluationJob> jobs;
  for (const policy::Rollout& rollout : all) jobs.push_back({0, &rollout.placement});
  const auto outcomes = training.evaluator->evaluate(jobs);
  policy::LogProbabilities log;
  training.policy->forward(all, log);
  Exact exact;
  std::vector<double> coefficients;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto heads = log.of(s);
    const double p = std::exp(std::accumulate(heads.begin(), heads.end(), 0.0));
    const double time = static_cast<double>(outcomes[s].makespan) / ms;
    exact.mean += p * time;
    coefficients.insert(coefficients.end(), heads.size(), p * time);
  }
  training.policy->backward(all, coefficients, 0);
  exact.gradient.assign(training.policy->gradient().begin(), training.policy->gradient().end());
  return exact;
}

TEST(PostPolicy, HasTheExactGradientOfChain5) {
  // Item 4: E[T] = 30 at u = 0; dE[T]/du_m0 = (-1, 0.75, 1.5, 0.75, -1).
  Training training(chain_5(2), "post");
  const Exact exact = enumerate(training);
  EXPECT_NEAR(exact.mean, 30, 1e-9);
  const std::vector<double> expected = {-1, 0.75, 1.5, 0.75, -1};
  for (std::size_t m = 0; m < 5; ++m) {
    EXPECT_NEAR(exact.gradient[2 * m], expected[m], 1e-6);
    EXPECT_NEAR(exact.gradient[2 * m + 1], -expected[m], 1e-6);
  }
}

TEST(PostPolicy, EstimatesTheGradientOfChain5WithinItsError) {
  // (T - 30) ([d = 0] - 1/2) has a deviation of about 0.5 x 5 ms; of 40000 samples 0.0125; 5 standard errors.
  Training training(chain_5(2), "post", table({{"samples_per_update", whole(40000)}, {"window", whole(40000)}}));
  std::vector<policy::Rollout> all(40000);
  std::vector<policy::SampleSlot> slots;
  std::vector<Stream> streams;
  std::vector<evaluate::EvaluationJob> jobs;
  for (std::uint32_t s = 0; s < all.size(); ++s)
    streams.emplace_back(StreamKey{.seed = 2, .purpose = Purpose::sample_placement, .update = 1, .index = s});
  for (std::size_t s = 0; s < all.size(); ++s) slots.push_back({&streams[s], {&all[s], 1}});
  training.policy->sample(slots);
  for (const policy::Rollout& rollout : all) jobs.push_back({0, &rollout.placement});
  const auto outcomes = training.evaluator->evaluate(jobs);
  std::vector<double> coefficients;
  for (const Outcome& outcome : outcomes)
    coefficients.insert(coefficients.end(), 5, (static_cast<double>(outcome.makespan) / ms - 30) / 40000);
  policy::LogProbabilities log;
  training.policy->forward(all, log);
  training.policy->backward(all, coefficients, 0);
  const std::vector<double> expected = {-1, 0.75, 1.5, 0.75, -1};
  for (std::size_t m = 0; m < 5; ++m) EXPECT_NEAR(training.policy->gradient()[2 * m], expected[m], 0.07);
}

TEST(PostPolicy, HasNoGradientOnASymmetricGraph) {
  // Item 5: fork-join on two equal devices, x = 2: E[T] = 19.5.
  Training training(fork_join(2), "post");
  const Exact exact = enumerate(training);
  EXPECT_NEAR(exact.mean, 19.5, 1e-9);
  EXPECT_THAT(exact.gradient, Each(FloatNear(0, 1e-6f)));
}

}  // namespace
}  // namespace emplace::learn::post_gradient_test
