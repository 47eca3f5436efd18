// Placing with a policy that was trained before.
#include "experiment/run/trained_policy.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/policy/stub_policy.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::experiment::trained_policy_test {
namespace {

// Puts both ops on device 0 first, then moves one more to device 1, which is faster, in each sample; records the best
// placement so far that it is given.
class Improving final : public test::StubPolicy {
 public:
  void sample(std::span<const policy::SampleSlot> slots) const override {
    for (const policy::SampleSlot& slot : slots) {
      updates.push_back(slot.rounds.back().update);
      told.push_back(slot.best == nullptr ? std::vector<std::uint8_t>{} : slot.best->device);
      const std::size_t moved = std::min<std::size_t>(told.size() - 1, 2);
      slot.rounds.back().placement.device = {static_cast<std::uint8_t>(moved > 0),
                                             static_cast<std::uint8_t>(moved > 1)};
    }
  }

  mutable std::vector<std::vector<std::uint8_t>> told;
  mutable std::vector<std::uint64_t> updates;
};

// Places two ops that may run on any device, within a budget of evaluations.
learn::Best place(const Improving& policy, std::uint64_t evaluations, std::uint64_t seed) {
  const Problem problem = test::tiny(test::plain_devices(2), {{"a", {3, 1}}, {"b", {3, 1}}}, {});
  const policy::PolicyProblem seen(&problem, make_grouping(problem, GroupingKind::op));
  const Problem* const pointers[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(pointers, Schedule::fifo);
  search::PlacerRequest request;
  request.problem = &problem;
  request.seed = seed;
  request.evaluations = evaluations;
  request.evaluator = evaluator.get();
  return place_with_policy(policy, seen, request);
}

std::vector<std::uint64_t> updates_of_seed(std::uint64_t seed) {
  const Improving policy;
  place(policy, 50, seed);
  return policy.updates;
}

// Policies use the number of the update as a key of their own draws, the Hierarchical Planner for its groupings.
TEST(PlaceWithPolicy, BeginsEachSeedAtAnUpdateOfItsOwnBeyondEveryTraining) {
  EXPECT_EQ(updates_of_seed(1), updates_of_seed(1));
  std::set<std::uint64_t> seen;
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    const std::vector<std::uint64_t> updates = updates_of_seed(seed);
    const std::set<std::uint64_t> different(updates.begin(), updates.end());
    EXPECT_EQ(different.size(), 5U);  // 1 + 16 + 16 + 16 + 1 samples
    EXPECT_GE(*different.begin(), std::uint64_t{1} << 55);
    seen.insert(different.begin(), different.end());
  }
  EXPECT_EQ(seen.size(), 4 * 5U);
}

TEST(PlaceWithPolicy, TellsThePolicyTheBestSoFar) {
  using test::ms;
  const Improving policy;
  const learn::Best best = place(policy, 18, 0);
  // The likeliest, then 16 at once, then one: each batch gets the best of those before it.
  ASSERT_EQ(policy.told.size(), 18U);
  EXPECT_TRUE(policy.told[0].empty());
  for (std::size_t i = 1; i <= 16; ++i) EXPECT_EQ(policy.told[i], (std::vector<std::uint8_t>{0, 0}));
  EXPECT_EQ(policy.told[17], (std::vector<std::uint8_t>{1, 1}));
  EXPECT_EQ(best.outcome.makespan, 2 * ms);
  EXPECT_EQ(best.evaluation, 18U);
}

}  // namespace
}  // namespace emplace::experiment::trained_policy_test
