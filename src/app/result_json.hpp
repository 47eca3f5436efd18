// The --json objects of DESIGN section 5: other programs rely on these keys.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "emplace/base/units.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::app {

using Json = nlohmann::ordered_json;

// `place` and `train`.
struct PlacementReport {
  std::string method;
  const Problem* problem = nullptr;
  const Placement* placement = nullptr;
  Outcome outcome;
  Schedule schedule = Schedule::fifo;
  Objective objective = Objective::step;
  std::uint64_t evaluations = 0;
  double seconds = 0;
  std::optional<Ticks> lower_bound = {};  // none of a time that was measured
  bool proved_optimal = false;
};
Json to_json(const PlacementReport& report);

// `simulate`; "reason" is null and the caller's to fill in.
Json to_json(const Problem& problem, const Outcome& outcome, const Usage& usage, Objective objective = Objective::step);

// One value and a newline on standard output.
void print_json(const Json& value);

}  // namespace emplace::app
