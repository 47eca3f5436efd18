// The exact engine against the plain event queue, on random problems full of ties.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "emplace/simulate/engine.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::equal_engines_test {
namespace {

using test::RandomPlacement;
using test::RandomProblem;

// 500 cases per law, unless RC_PARAMS is set (RC_PARAMS="max_success=30000 max_size=150" takes half a minute per law).
[[maybe_unused]] const int cases = setenv("RC_PARAMS", "max_success=500", 0);

struct Answer {
  Outcome outcome;
  Usage usage;
  Timeline timeline;
};

Answer ask(Engine& engine, const Placement& placement) {
  Answer answer;
  answer.outcome = engine.evaluate(placement, {.usage = &answer.usage, .timeline = &answer.timeline});
  return answer;
}

void assert_equal(const Problem& problem, Schedule schedule, const Placement& placement, Engine& exact) {
  const auto reference = make_reference_engine(problem, schedule);
  const Answer expected = ask(*reference, placement);
  // First without, then with all figures: asking for them must not change the outcome.
  const Outcome alone = exact.evaluate(placement);
  const Answer actual = ask(exact, placement);
  RC_ASSERT(actual.timeline.op_start == expected.timeline.op_start);
  RC_ASSERT(actual.timeline.op_end == expected.timeline.op_end);
  RC_ASSERT(actual.timeline.transfers.size() == expected.timeline.transfers.size());
  RC_ASSERT(actual.timeline == expected.timeline);
  RC_ASSERT(actual.usage.device_peak == expected.usage.device_peak);
  RC_ASSERT(actual.usage == expected.usage);
  RC_ASSERT(actual.outcome.makespan == expected.outcome.makespan);
  RC_ASSERT(actual.outcome == expected.outcome);
  RC_ASSERT(alone == expected.outcome);
}

void check_schedule(const std::string& name, Schedule schedule) {
  EXPECT_TRUE(rc::check(
      name, [schedule](const RandomProblem& random, const RandomPlacement& first, const RandomPlacement& second) {
        const Problem problem = problem_of(random);
        const auto exact = make_exact_engine(problem, schedule);
        // Two placements on one engine: the first must not change the result of the second.
        for (const RandomPlacement& genes : {first, second, first}) {
          const Placement placement = placement_of(problem, genes);
          assert_equal(problem, schedule, placement, *exact);
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
        assert_equal(problem, schedule, placement, *exact);
      }));
}

}  // namespace
}  // namespace emplace::simulate::equal_engines_test
