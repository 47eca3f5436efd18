// The exact engine against the plain event queue, on random problems full of ties.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <vector>

#include "emplace/simulate/engine.hpp"
#include "tests/simulate/answers.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::equal_engines_test {
namespace {

using test::Answer;
using test::ask;
using test::assert_equal;
using test::RandomPlacement;
using test::RandomProblem;

void check_schedule(const std::string& name, Schedule schedule) {
  EXPECT_TRUE(rc::check(
      name, [schedule](const RandomProblem& random, const RandomPlacement& first, const RandomPlacement& second) {
        const Problem problem = problem_of(random);
        const auto exact = make_exact_engine(problem, schedule);
        // Two placements on one engine: the first must not change the result of the second.
        for (const RandomPlacement& genes : {first, second, first}) {
          const Placement placement = placement_of(problem, genes);
          assert_equal(*exact, *make_reference_engine(problem, schedule), placement);
        }
      }));
}

TEST(ExactEngine, EqualsTheReferenceUnderFifo) { check_schedule("fifo", Schedule::fifo); }
TEST(ExactEngine, EqualsTheReferenceUnderPriority) { check_schedule("priority", Schedule::priority); }
TEST(ExactEngine, EqualsTheReferenceInOrder) { check_schedule("in-order", Schedule::in_order); }

TEST(ExactEngine, JudgesMemoryLikeTheReferenceAroundThePeak) {
  EXPECT_TRUE(rc::check(
      "memory limits within a few bytes of the peak", [](const RandomProblem& random, const RandomPlacement& genes) {
        Problem problem = problem_of(random);
        const Placement placement = placement_of(problem, genes);
        const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
        const Answer free = ask(*make_reference_engine(problem, schedule), placement);
        for (std::size_t d = 0; d < problem.device_count(); ++d) {
          const Bytes peak = free.usage.device_peak.empty() ? 0 : free.usage.device_peak[d];
          const auto slack = *rc::gen::weightedElement<Bytes>({{3, 0}, {2, 1}, {1, -1}, {1, -3}, {1, no_memory_limit}});
          problem.devices[d].memory = slack == no_memory_limit ? slack : std::max<Bytes>(0, peak + slack);
        }
        const auto exact = make_exact_engine(problem, schedule);
        assert_equal(*exact, *make_reference_engine(problem, schedule), placement);
      }));
}

// Whatever the times are, a device holds no more than this.
std::vector<Bytes> all_that_is_ever_held(const Problem& problem, const Placement& placement) {
  std::vector<Bytes> held(problem.device_count(), std::ranges::max(problem.scratch));
  for (std::size_t op = 0; op < problem.op_count(); ++op) held[placement.device[op]] += problem.resident[op];
  for (std::uint32_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    std::set<std::uint8_t> on{placement.device[problem.producer[tensor].index()]};
    for (const std::uint32_t consumer : problem.consumers[tensor]) on.insert(placement.device[consumer]);
    for (const std::uint8_t device : on) held[device] += problem.tensor_bytes[tensor];
  }
  return held;
}

TEST(ExactEngine, JudgesMemoryLikeTheReferenceAroundAllThatADeviceEverHoldsHoweverOftenItIsAsked) {
  EXPECT_TRUE(
      rc::check("memory limits within a few bytes of all that is ever held",
                [](const RandomProblem& random, const RandomPlacement& genes, const RandomPlacement& other) {
                  Problem problem = problem_of(random);
                  const Placement placements[] = {placement_of(problem, genes), placement_of(problem, other)};
                  const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::in_order);
                  const std::vector<Bytes> held = all_that_is_ever_held(problem, placements[0]);
                  for (std::size_t d = 0; d < problem.device_count(); ++d) {
                    const auto slack = *rc::gen::weightedElement<Bytes>({{4, 0}, {2, 3}, {1, -1}, {1, -9}});
                    problem.devices[d].memory = std::max<Bytes>(0, held[d] + slack);
                  }
                  const auto exact = make_exact_engine(problem, schedule);
                  const auto reference = make_reference_engine(problem, schedule);
                  const Outcome expected[] = {reference->evaluate(placements[0]), reference->evaluate(placements[1])};
                  for (int i = 0; i < 200; ++i) {
                    const std::size_t which = i % 3 == 0 ? 0 : 1;  // mostly the one that may not fit
                    RC_ASSERT(exact->evaluate(placements[which]) == expected[which]);
                  }
                }));
}

TEST(ExactEngine, LooksAtMemoryOnlyBelowAMakespanIfThatIsWanted) {
  EXPECT_TRUE(rc::check("memory limits below the peak", [](const RandomProblem& random, const RandomPlacement& genes) {
    Problem problem = problem_of(random);
    const Placement placement = placement_of(problem, genes);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    const Answer free = ask(*make_reference_engine(problem, schedule), placement);
    for (std::size_t d = 0; d < free.usage.device_peak.size(); ++d)
      problem.devices[d].memory = std::max<Bytes>(0, free.usage.device_peak[d] - *rc::gen::inRange<Bytes>(-2, 5));
    const auto exact = make_exact_engine(problem, schedule);
    const Outcome judged = make_reference_engine(problem, schedule)->evaluate(placement);
    RC_ASSERT(exact->evaluate(placement, {.memory_below = judged.makespan + 1}) == judged);
    RC_ASSERT(exact->evaluate(placement, {.memory_below = judged.makespan}) == free.outcome);
  }));
}

TEST(ExactEngine, CountsCutsLikeTheReference) {
  EXPECT_TRUE(rc::check("limits on cuts", [](const RandomProblem& random, const RandomPlacement& genes) {
    Problem problem = problem_of(random);
    const auto schedule = *rc::gen::element(Schedule::fifo, Schedule::priority, Schedule::in_order);
    problem.max_cuts = *rc::gen::inRange<std::uint32_t>(0, 6);
    const auto slack = *rc::gen::element(Bytes{3}, Bytes{30}, no_memory_limit);
    for (Device& device : problem.devices) device.memory = slack;
    const auto exact = make_exact_engine(problem, schedule);
    assert_equal(*exact, *make_reference_engine(problem, schedule), placement_of(problem, genes));
  }));
}

}  // namespace
}  // namespace emplace::simulate::equal_engines_test
