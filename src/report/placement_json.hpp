// One placement for a page: the problem, the outcome, its step, memory and graph, and the results of other placers.
// Each part is made in its own source file. Times are picoseconds, exact below 2^53; sizes are bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "emplace/search/bound.hpp"
#include "report/explanation.hpp"
#include "report/found_placement.hpp"
#include "report/page_json.hpp"
#include "verdict/verdict.hpp"

namespace emplace::report {

// Upper limits of what a page holds of one placement.
struct PlacementLimits {
  std::size_t ops = 100'000;
  std::size_t transfers = 100'000;
  std::size_t channels = 48;    // rows of the timeline
  std::size_t levels = 16'000;  // of memory over time, over all devices
  std::size_t groups = 40;
  std::size_t edges = 40;            // between groups on different devices
  std::size_t ops_of_group = 250;    // in an opened group
  std::uint64_t work = 4'000'000;    // ops and edges that a baseline which searches may simulate
  std::uint64_t placed = 2'000'000;  // above this number of ops x devices, the page has only the recipe's baselines
  double bound_seconds = 4;          // for all methods that prove a bound together
  MoveLimits moves = {
      .wanted = 5, .simulations = 500, .work = 20'000'000, .guesses = 20'000, .guessed_ops = 20'000'000};
};

// How the training got to its result: its best step time (or load) so far, in seconds, at points along the way. The
// lists are of equal lengths, NaN where nothing feasible was found yet; empty if the run has no metrics, and for runs
// of several problems.
struct LearnedCurve {
  std::uint64_t evaluations = 1;  // in all
  std::vector<double> at_evaluations = {}, at_seconds = {}, best = {};
  std::optional<verdict::CurveFacts> facts = {};  // about its end
  std::optional<double> seconds = {};             // of training in all
};
// The best result after at most this many evaluations, or this much time of training; none if it is unknown.
std::optional<Ticks> learned_after_evaluations(const LearnedCurve& curve, std::uint64_t evaluations);
std::optional<Ticks> learned_after_seconds(const LearnedCurve& curve, double seconds);

// The ops and transfers that are on the page: all; or if they are too many, the longest, those on the critical path,
// and the producers of these transfers. The other parts of the JSON refer to them by their positions here.
class ShownItems {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  ShownItems(const Problem& problem, const Placement& placement, const Explanation& explanation,
             const PlacementLimits& limits);
  [[nodiscard]] const std::vector<std::uint32_t>& ops() const { return ops_; }
  [[nodiscard]] const std::vector<std::uint32_t>& transfers() const { return transfers_; }
  // `none` if the op is not shown.
  [[nodiscard]] std::uint32_t position_of_op(std::size_t op) const { return position_of_op_[op]; }
  [[nodiscard]] std::uint32_t position_of_transfer(std::size_t i) const { return position_of_transfer_[i]; }

 private:
  std::vector<std::uint32_t> ops_, transfers_;  // ascending
  std::vector<std::uint32_t> position_of_op_, position_of_transfer_;
};

// Names, types, devices and bytes of the shown ops.
Json ops_json(const Problem& problem, const Placement& placement, const ShownItems& shown);
// A lane for each device and channel in use, with its items in order of time, and the critical path. Null if the
// placement has no times.
Json timeline_json(const Problem& problem, const Placement& placement, const Explanation& explanation,
                   const ShownItems& shown, const PlacementLimits& limits);
// What limits the step, and the single moves that would help most. Null if the placement has no times.
Json limits_json(const Problem& problem, const Placement& placement, const Explanation& explanation);
// Memory of each device over the step, and what its peak consists of. Null if the placement has no times.
Json memory_json(const Problem& problem, const Explanation& explanation, const PlacementLimits& limits);
// The graph by groups: the run's units, where units on one device are merged until a picture can show them.
Json groups_json(const FoundPlacement& found, const Explanation& explanation, const ShownItems& shown,
                 const PlacementLimits& limits);
// Whether the problem is too large for baselines besides those that the recipe names.
bool has_few_baselines(const FoundPlacement& found, const PlacementLimits& limits);
// The results of other placers, each beside what the training had after as many evaluations and after as much time; the
// last row is the training itself after as many evaluations as the searches have. Budgets are numbers of evaluations,
// so all but the times that the placers took is deterministic.
Json baselines_json(const FoundPlacement& found, const Outcome& learned, const std::string& reason,
                    const LearnedCurve& curve, const PlacementLimits& limits);

// All parts; {"missing": why} if there is nothing to show.
Json placement_json(const FoundPlacement& found, const LearnedCurve& curve, const PlacementLimits& limits = {});

}  // namespace emplace::report
