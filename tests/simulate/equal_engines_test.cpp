// The exact engine against the plain event queue, on random problems full of ties.
#include <gtest/gtest.h>
#include <rapidcheck.h>

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
