// The law of lower bounds, tested with all placers: no placer ever finds a step below a bound. Three problems per case;
// scripts/prove runs thousands of cases.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <span>

#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::search::bound_law_test {
namespace {

// The results of every placer that fits the problem: 30 evaluations each, 300 for searches.
struct Found {
  Ticks best = total_limit,
        proved = 0;  // the shortest feasible step (total_limit: none); the largest bound that a placer proved
  std::string by, proved_by;
};

Found by_every_placer(const Problem& problem, Schedule schedule, std::uint64_t seed) {
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, schedule);
  Found found;
  for (const PlacerEntry& entry : placers()) {
    if (entry.only_for.value_or(Objective::step) != Objective::step) continue;
    PlacerRequest request;
    request.problem = &problem;
    request.schedule = schedule;
    request.seed = seed;
    request.evaluations = entry.role == PlacerRole::search ? 300 : 30;
    request.evaluator = evaluator.get();
    if (entry.unfit && !entry.unfit(request).empty()) continue;
    const std::string method = entry.name == "device" ? "device:" + problem.devices.back().name : entry.name;
    const PlacerResult result = place_with(method, request, ConfigTable{});
    if (result.outcome.feasible() && result.outcome.makespan < found.best) {
      found.best = result.outcome.makespan;
      found.by = entry.name;
    }
    if (result.lower_bound > found.proved) {
      found.proved = result.lower_bound;
      found.proved_by = entry.name;
    }
  }
  return found;
}

TEST(LowerBoundLaw, NoPlacerGoesBelowAnyBoundOfAnyMethodOrPlacer) {
  std::size_t tight = 0;
  EXPECT_TRUE(rc::check("bound <= the best step of all placers under all schedules", [&tight] {
    for (int problems = 0; problems < 3; ++problems) {
      const auto seed = *rc::gen::arbitrary<std::uint64_t>();
      Stream random{{.seed = seed, .purpose = Purpose::test, .update = 0, .index = 0}};
      Problem problem = test::random_step_problem(random, 10, 4, random.below(2) == 0);
      problem.expert = test::random_placement(problem, random).device;
      Found best;
      for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order}) {
        const Found found = by_every_placer(problem, schedule, seed);
        if (found.best < best.best) best.best = found.best, best.by = found.by;
        if (found.proved > best.proved) best.proved = found.proved, best.proved_by = found.proved_by;
      }
      if (best.best == total_limit) continue;
      RC_LOG() << "best " << best.best << " by " << best.by << ", proved " << best.proved << " by " << best.proved_by;
      RC_ASSERT(best.proved <= best.best);
      const BoundReport report = lower_bounds(problem, Objective::step, 1);
      RC_ASSERT(!report.infeasible);
      for (const LowerBound& each : report.methods) {
        RC_LOG() << each.method << " says " << each.ticks;
        RC_ASSERT(each.ticks <= best.best);
      }
      RC_ASSERT(lower_bound(problem).ticks <= best.best);
      tight += report.best().ticks == best.best;
    }
  }));
  EXPECT_GT(tight, 0U) << "and sometimes equal to it";
}

}  // namespace
}  // namespace emplace::search::bound_law_test
