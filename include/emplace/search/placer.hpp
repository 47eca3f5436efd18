// Placers that do not learn: one entry and one file per method.
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
#include "emplace/search/bound.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::search {

class PlacerPool;

// How far a search has got.
struct PlacerProgress {
  std::string_view method;        // the method that runs at the moment; may be empty
  double progress = 0;            // share of the budget that is used, from 0 to 1
  std::uint64_t evaluations = 0;  // so far
  Outcome best;                   // so far; not timed before the first evaluation
};

struct PlacerRequest {
  const Problem* problem = nullptr;
  Schedule schedule = Schedule::fifo;
  Objective objective = Objective::step;
  simulate::PipelineOptions pipeline;  // of the objective `pipeline`; the same as the evaluator's
  std::uint64_t seed = 0;
  // Two budgets; the search ends when either is used up, but evaluates a placement at least.
  std::optional<double> seconds;
  std::optional<std::uint64_t> evaluations;
  // Scores placements by the request's schedule and objective; its problem 0 is `problem`.
  evaluate::Evaluator* evaluator = nullptr;
  // The placement from which placers with `from_start` begin, with an order unless the schedule is fifo; null: they
  // choose one themselves.
  const Placement* start = nullptr;
  PlacerPool* pool = nullptr;  // runs parts of a search at the same time; null: the search runs alone
  bool is_job = false;         // this is one of several parallel jobs, which a search does not divide again
  // Called between evaluations; once it returns true, the placer soon returns the best so far. May be empty.
  std::function<bool()> stop = {};
  std::function<void(const PlacerProgress& news)> on_progress = {};  // called a few times per second; may be empty
};

// What one method did that a portfolio ran.
struct PlacerStep {
  std::string method;
  double seconds = 0;             // from the start of the portfolio to the end of the method
  std::uint64_t evaluations = 0;  // in the same time
  Outcome outcome;                // the method's own best
  Ticks gained = 0;               // by how many ticks that is better than the start of the method
  bool is_new_best = false;
};

struct PlacerResult {
  Placement placement;  // with an order under `priority` and `in-order`
  Outcome outcome;      // the evaluator's outcome of `placement`
  std::uint64_t evaluations = 0;
  bool proved_optimal = false;
  Ticks lower_bound = 0;          // certified: no placement has a smaller outcome; 0: the placer gives no bound
  std::string bound_by;           // the method that found the bound; empty: the placer itself
  std::string note;               // a remark on the result, one sentence without a full stop; may be empty
  std::vector<PlacerStep> steps;  // of a portfolio or a search, in the order of their runs
};

// A certified bound on every outcome, and whether it proves that a result is optimal.
struct ResultProof {
  LowerBound bound;
  bool optimal = false;
};
// The larger of `known` and the bound that the placer called `method` found.
ResultProof proof_of(const PlacerResult& result, const std::string& method, LowerBound known);

// What `best` uses a placer for.
enum class PlacerRole : std::uint8_t {
  quick,   // takes (nearly) linear time: runs first
  exact,   // may prove that its result is optimal: gets a share of the budget
  search,  // improves the best placement for as long as the budget lasts
  other,   // `best` does not use it
};

// Every placer keeps co-location groups together and puts ops only where they can run.
struct PlacerEntry : EntryInfo {
  std::optional<Objective> only_for;  // the only objective that it supports; nothing: any
  PlacerRole role = PlacerRole::quick;
  std::optional<Objective> in_best_for;  // `best` uses it for that objective only; nothing: for all that it supports
  bool from_start = false;               // it begins with the request's start, if there is one
  bool own_engine = false;               // it also simulates on its own engines, and counts that as evaluations
  // Whether a portfolio should run this search on the request's problem; null: on any.
  std::function<bool(const PlacerRequest& request)> pays;
  // Returns why the method cannot be used for this problem, or "" if it can; null: it always can.
  std::function<std::string(const PlacerRequest& request)> unfit;
  // Runs the method. InputError for unknown options.
  std::function<PlacerResult(const PlacerRequest& request, const ConfigTable& options)> place;
};

// Every placer, in the order in which `emplace list placers` shows them.
std::span<const PlacerEntry> placers();
// Adds an entry (base/registry.hpp). InputError for a name that is taken or malformed.
void register_placer(PlacerEntry entry);

// Runs the entry called `method`; `device:NAME` is the entry `device` with the option name = NAME. InputError for an
// unknown method (it names the nearest valid one), for one that does not support the request's objective or is unfit
// for the problem, and for budgets of zero or less.
PlacerResult place_with(const std::string& method, const PlacerRequest& request, const ConfigTable& options);

}  // namespace emplace::search
