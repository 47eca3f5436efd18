// Placements of one problem side by side.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::report {

struct NamedPlacement {
  std::string name;  // to print: the file's name
  Placement placement;
  Schedule schedule = Schedule::fifo;
};

struct ComparedPlacement {
  std::string name;
  Schedule schedule;
  Outcome outcome;
  std::string reason;               // "" if feasible
  Usage usage;                      // empty if the placement has no times
  std::vector<Ticks> load;          // D; empty for the objective `step`, or if the placement has no loads
  std::vector<std::size_t> ops_on;  // D
  std::size_t different = 0;        // ops on another device than in the first placement
  // For the objective `step` only.
  std::size_t transfers = 0;
  Bytes moved_bytes = 0;  // summed over transfers; each counts once, even over several channels
};

struct Comparison {
  Objective objective = Objective::step;
  std::vector<ComparedPlacement> placements;  // in the order given
  std::size_t best = 0;  // position of the best: feasible first, then the fastest; the first of equals
};

// There must be at least one placement, and all must have passed check_placement. Compares step times (InputError if a
// schedule needs an order and the placement has none), or the load of the busiest device, counted with the options
// `pipeline`; schedules do not matter for loads.
Comparison compare(const Problem& problem, std::span<const NamedPlacement> placements,
                   const std::optional<simulate::PipelineOptions>& pipeline = {});

// Makespan (or load) divided by that of the best; 0 if either has no times.
double ratio_to_best(const Comparison& comparison, std::size_t placement);

// A table with a column for each placement (its heading is the file's name, or as much of the path as makes it unique),
// in blocks of as many columns as fit a screen.
std::string comparison_text(const Problem& problem, const Comparison& comparison);
// One JSON object and a newline.
std::string comparison_json(const Problem& problem, const Comparison& comparison);

}  // namespace emplace::report
