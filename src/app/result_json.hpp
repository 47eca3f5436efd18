// The objects that commands print with --json (docs/formats.md). Other programs read these keys, so they must not
// change.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "emplace/base/types.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "verdict/verdict.hpp"

namespace emplace::app {

using Json = nlohmann::ordered_json;

// The result of `place` and `train`.
struct PlacementReport {
  std::string method;
  const Problem* problem = nullptr;
  const Placement* placement = nullptr;
  Outcome outcome;
  Schedule schedule = Schedule::fifo;
  Objective objective = Objective::step;
  std::uint64_t evaluations = 0;
  double seconds = 0;
  std::optional<Ticks> lower_bound = {};  // none if the step time was measured
  bool proved_optimal = false;
  const verdict::References* references = nullptr;  // null: none were looked for
  const verdict::Verdict* verdict = nullptr;
};
// The seconds of a step; null if there is no such placement.
Json time_of(const std::optional<verdict::Reference>& reference);
Json to_json(const PlacementReport& report);

// The result of `simulate`. "reason" is null; the caller sets it.
Json to_json(const Problem& problem, const Outcome& outcome, const Usage& usage, Objective objective = Objective::step);

// Prints `value` and a newline on standard output. EnvironmentError if that cannot be written.
void print_json(const Json& value);

}  // namespace emplace::app
