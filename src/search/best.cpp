// A portfolio: the quick placers and bounds first, then the exact ones and the searches by turns, as many side by side
// as there are workers, each from the best placement so far. Searches that help get the time of those that do not.
#include <algorithm>

#include "chains.hpp"
#include "emplace/search/bound.hpp"
#include "methods.hpp"

namespace emplace {

namespace {

struct BestOptions {
  double bound_share = 0.05, exact_share = 0.2;
  std::int64_t rounds = 4, width = 4, moves_per_unit = 500;
};

void describe(BestOptions& o, OptionVisitor& visit) {
  visit("bound_share", o.bound_share, {.min = 0, .max = 0.9, .help = "Share of a budget of seconds for lower bounds."});
  visit("exact_share", o.exact_share,
        {.min = 0, .max = 0.9, .help = "Share of the budget for the exact placers, where turns come one by one."});
  visit(
      "rounds", o.rounds,
      {.min = 1, .max = 1000, .help = "How often searches have their turns; one that did not help sits out the next."});
  visit("width", o.width,
        {.min = 1,
         .max = 10'000,
         .help = "Turns side by side within a budget of evaluations; within one of seconds alone as many as there are "
                 "workers."});
  visit("moves_per_unit", o.moves_per_unit,
        {.min = 1,
         .max = 1'000'000'000,
         .help = "Evaluations for each unit, where there is no budget of them or seconds."});
}

std::vector<Turn> turns_of(PlacerRole role, const PlacerRequest& request) {
  std::vector<Turn> turns;
  for (const PlacerEntry& entry : placers())
    if (entry.role == role && entry.only_for.value_or(request.objective) == request.objective &&
        entry.in_best_for.value_or(request.objective) == request.objective)
      turns.push_back({.method = entry.name, .seed = request.seed});
  return turns;
}

// The turns in batches of `width`, each with its share of what is left.
void take_turns(Incumbent& incumbent, const std::vector<Turn>& turns, std::size_t width, double share) {
  const std::size_t batches = (turns.size() + width - 1) / width;
  for (std::size_t b = 0; b < batches && !incumbent.result().proved_optimal; ++b) {
    const std::size_t begin = b * width;
    const auto batch = std::span(turns).subspan(begin, std::min(width, turns.size() - begin));
    const double rest = 1 - share * static_cast<double>(b) / static_cast<double>(batches);
    incumbent.try_placers(batch, share / static_cast<double>(batches) / rest);
  }
}

// The searches that gained a good part of what the best of them did in these steps; all of them if none gained.
std::vector<Turn> those_that_helped(std::span<const PlacerStep> steps, const PlacerRequest& request) {
  constexpr Ticks part = 4;
  Ticks most = 0;
  for (const PlacerStep& step : steps) most = std::max(most, step.gained);
  std::vector<Turn> helped;
  for (const Turn& turn : turns_of(PlacerRole::search, request))
    if (std::ranges::any_of(
            steps, [&](const PlacerStep& step) { return step.method == turn.method && step.gained >= most / part; }))
      helped.push_back(turn);
  return helped;
}

PlacerResult place_best(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<BestOptions>(table);
  const std::size_t units = make_grouping(*request.problem, GroupingKind::colocation).count();
  Incumbent incumbent(request, "best", static_cast<std::uint64_t>(options.moves_per_unit) * units);
  const std::size_t width = incumbent.width(static_cast<std::size_t>(options.width));
  if (request.start != nullptr) incumbent.begin();
  incumbent.try_placers(turns_of(PlacerRole::quick, request));

  // How far bounds come within seconds depends on the machine: where evaluations are counted, only what needs no time.
  const double seconds = incumbent.counts_evaluations() ? 0 : options.bound_share * *incumbent.seconds_left();
  const BoundReport bounds = lower_bounds(*request.problem, request.objective, seconds);
  if (bounds.infeasible) return incumbent.result();
  incumbent.bound(bounds.best().ticks);

  std::vector<Turn> turns = turns_of(PlacerRole::exact, request);
  if (width == 1) {
    take_turns(incumbent, turns, width, options.exact_share);
    turns.clear();
  }
  std::vector<Turn> searches = turns_of(PlacerRole::search, request);
  for (std::int64_t round = 0; round < options.rounds && !searches.empty(); ++round) {
    // As many seeds of each search as there are workers for.
    for (std::size_t i = 0; i < std::max(width, searches.size()); ++i) {
      turns.push_back(searches[i % searches.size()]);
      turns.back().seed = seed_of_chain(request.seed, static_cast<std::size_t>(round) * width + i / searches.size());
    }
    const std::size_t first = incumbent.result().steps.size();
    take_turns(incumbent, turns, width, 1 / static_cast<double>(options.rounds - round));
    if (incumbent.exhausted() || incumbent.result().proved_optimal) break;
    turns.clear();
    searches = those_that_helped(std::span(incumbent.result().steps).subspan(first), request);
  }
  return incumbent.result();
}

}  // namespace

PlacerEntry best_placer() {
  PlacerEntry entry;
  entry.name = "best";
  entry.summary = "All of these within one budget, each search from the best placement so far.";
  entry.options = list_options<BestOptions>;
  entry.role = PlacerRole::other;
  entry.own_engine = true;
  entry.from_start = true;
  entry.place = place_best;
  return entry;
}

}  // namespace emplace
