// Placements of one problem side by side.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/pipeline.hpp"

namespace emplace::report {

struct NamedPlacement {
  std::string name;  // as a person knows it: the file
  Placement placement;
  Schedule schedule = Schedule::fifo;
};

struct ComparedPlacement {
  std::string name;
  Schedule schedule;
  Outcome outcome;
  std::string reason;               // "" if feasible
  Usage usage;                      // empty where it has no times
  std::vector<Ticks> load;          // D, of the objective `pipeline` only; empty where it has none
  std::vector<std::size_t> ops_on;  // D
  std::size_t different = 0;        // ops on another device than in the first placement
  // Of the objective `step` only.
  std::size_t transfers = 0;
  Bytes moved_bytes = 0;  // summed over transfers, however many channels each used
};

struct Comparison {
  Objective objective = Objective::step;
  std::vector<ComparedPlacement> placements;  // in the order given
  std::size_t best = 0;  // position of the best: feasible first, then the fastest; the first of equals
};

// Every placement must have passed check_placement; at least one. By step time, and InputError where a schedule needs
// an order; or by the load of the busiest device, counted as `pipeline` says, and then no schedule matters.
Comparison compare(const Problem& problem, std::span<const NamedPlacement> placements,
                   const std::optional<simulate::PipelineOptions>& pipeline = {});

// Makespan (or load) over that of the best; 0 where either has no times.
double ratio_to_best(const Comparison& comparison, std::size_t placement);

// A table with a column a placement (headed by its file's name, or by as much of the path as tells them apart), in
// blocks of as many columns as fit a screen.
std::string comparison_text(const Problem& problem, const Comparison& comparison);
// One JSON object and a newline.
std::string comparison_json(const Problem& problem, const Comparison& comparison);

}  // namespace emplace::report
