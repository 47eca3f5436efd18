// Placers that do not learn: one entry and one file a method.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/simulate/pipeline.hpp"

namespace emplace::search {

class PlacerPool;

// How far a search is.
struct PlacerProgress {
  std::string_view method;        // what runs at the moment; may be empty
  double progress = 0;            // of its budget, from 0 to 1
  std::uint64_t evaluations = 0;  // so far
  Outcome best;                   // so far; not timed before the first
};

struct PlacerRequest {
  const Problem* problem = nullptr;
  Schedule schedule = Schedule::fifo;
  Objective objective = Objective::step;
  simulate::PipelineOptions pipeline;  // how the objective `pipeline` counts; as the evaluator has it
  std::uint64_t seed = 0;
  std::optional<double> seconds;  // budgets; whichever ends first. At least one placement is always evaluated
  std::optional<std::uint64_t> evaluations;
  // N: the device of each op as a human expert would have it; empty where nobody knows. Only `expert` looks at it.
  std::span<const std::uint8_t> expert = {};
  evaluate::Evaluator* evaluator =
      nullptr;  // scores placements by the request's schedule and objective; position 0 is `problem`
  // Where placers with `from_start` begin; with an order unless fifo; null: they choose.
  const Placement* start = nullptr;
  PlacerPool* pool = nullptr;  // who shares the work of searches; null: nobody
  bool is_job = false;         // one of several side by side: a search does not divide itself again
  // Asked between evaluations; once it answers true the placer returns soon, with the best so far. May be empty.
  std::function<bool()> stop = {};
  std::function<void(const PlacerProgress& news)> on_progress = {};  // by searches, some times a second. May be empty.
};

// A method that a portfolio ran.
struct PlacerStep {
  std::string method;
  double seconds = 0;             // from the portfolio's start to the method's end
  std::uint64_t evaluations = 0;  // likewise
  Outcome outcome;                // the method's own
  Ticks gained = 0;               // by how much that is better than what it began with
  bool is_new_best = false;
};

struct PlacerResult {
  Placement placement;  // with an order under `priority` and `in-order`
  Outcome outcome;      // as the evaluator has it
  std::uint64_t evaluations = 0;
  bool proved_optimal = false;
  Ticks lower_bound = 0;          // certified: no placement has a smaller outcome; 0: the placer knows nothing of that
  std::string note;               // what else to say of the result, one sentence without a full stop; may be empty
  std::vector<PlacerStep> steps;  // of a portfolio, in order
};

// What `best` uses a placer for.
enum class PlacerRole : std::uint8_t {
  quick,   // linear or nearly so: first of all
  exact,   // may prove that its result is optimal: for a share of the budget
  search,  // improves the best placement for as long as the budget lasts
  other,   // not at all
};

// Every placer keeps co-location groups together and puts ops only where they can run.
struct PlacerEntry : EntryInfo {
  std::optional<Objective> only_for;  // the one objective that it knows; nothing: any
  PlacerRole role = PlacerRole::quick;
  std::optional<Objective> in_best_for;  // `best` uses it for that objective only; nothing: for all that it knows
  bool from_start = false;               // it begins with the request's start, where there is one
  bool own_engine = false;               // it simulates on engines of its own too, and counts that as evaluations
  // Why the method has no answer to this problem, "" where it has one; null: it always has.
  std::function<std::string(const PlacerRequest& request)> unfit;
  // InputError for unknown options.
  std::function<PlacerResult(const PlacerRequest& request, const ConfigTable& options)> place;
};

// Every placer, in the order in which `emplace list placers` shows them.
std::span<const PlacerEntry> placers();

// Runs the entry called `method`; `device:NAME` is the entry `device` with the option name = NAME. InputError for an
// unknown method (names the nearest right one), for one that does not know the request's objective or is unfit for the
// problem, and for budgets of zero or less.
PlacerResult place_with(const std::string& method, const PlacerRequest& request, const ConfigTable& options);

}  // namespace emplace::search
