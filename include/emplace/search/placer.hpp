// Placers that do not learn: one entry and one file a method.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "emplace/base/registry.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/simulate/evaluator.hpp"

namespace emplace {

struct PlacerRequest {
  const Problem* problem = nullptr;
  Schedule schedule = Schedule::fifo;
  Objective objective = Objective::step;
  std::uint64_t seed = 0;
  std::optional<double> seconds;  // budgets; whichever ends first
  std::optional<std::uint64_t> evaluations;
  Evaluator* evaluator = nullptr;  // scores placements; position 0 is `problem`
};

struct PlacerResult {
  Placement placement;  // with an order under `priority` and `in-order`
  Outcome outcome;      // as the exact engine has it
  std::uint64_t evaluations = 0;
  bool proved_optimal = false;
};

struct PlacerEntry : EntryInfo {
  std::function<PlacerResult(const PlacerRequest& request, const ConfigTable& options)> place;
};

std::span<const PlacerEntry> placers();

// `device:NAME` is a family, one member a device; everything else is an entry by its own name.
PlacerResult place_with(const std::string& method, const PlacerRequest& request, const ConfigTable& options);

}  // namespace emplace
