// All figures of an engine, and the comparison of two engines within a property.
#pragma once

#include <rapidcheck.h>

#include "emplace/simulate/engine.hpp"

namespace emplace::test {

struct Answer {
  Outcome outcome;
  Usage usage;
  simulate::Timeline timeline;
};

inline Answer ask(simulate::Engine& engine, const Placement& placement) {
  Answer answer;
  answer.outcome = engine.evaluate(placement, {.usage = &answer.usage, .timeline = &answer.timeline});
  return answer;
}

inline void assert_equal(simulate::Engine& engine, simulate::Engine& reference, const Placement& placement) {
  const Answer expected = ask(reference, placement);
  // First without, then with all figures: asking for them must not change the outcome.
  const Outcome alone = engine.evaluate(placement);
  const Answer actual = ask(engine, placement);
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

}  // namespace emplace::test
