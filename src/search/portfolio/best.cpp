// A portfolio: first the quick placers and bounds, then the exact placers and the searches in rounds, as many in
// parallel as there are workers, each from the best placement so far. Searches that help get the time of those that do
// not.
#include <algorithm>

#include "emplace/search/bound.hpp"
#include "search/local/chains.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct BestOptions {
  double bound_share = 0.05, exact_share = 0.2;
  std::int64_t rounds = 4, width = 4, moves_per_unit = 500;
};

void describe(BestOptions& o, OptionVisitor& visit) {
  visit("bound_share", o.bound_share, {.min = 0, .max = 0.9, .help = "Share of a budget of seconds for lower bounds."});
  visit("exact_share", o.exact_share,
        {.min = 0, .max = 0.9, .help = "Share of the budget for exact placers, if only one placer runs at a time."});
  visit("rounds", o.rounds,
        {.min = 1,
         .max = 1000,
         .help = "Number of rounds of searches; a search that did not help in one round is left out of the next."});
  visit("width", o.width,
        {.min = 1,
         .max = 10'000,
         .help = "Number of placers in parallel with a budget of evaluations; with only a budget of seconds there is "
                 "one per worker."});
  visit("moves_per_unit", o.moves_per_unit,
        {.min = 1,
         .max = 1'000'000'000,
         .help = "Evaluations per unit if there is no budget of evaluations or seconds."});
}

std::vector<PortfolioEntry> entries_of(PlacerRole role, const PlacerRequest& request) {
  std::vector<PortfolioEntry> entries;
  for (const PlacerEntry& entry : placers())
    if (entry.role == role && entry.only_for.value_or(request.objective) == request.objective &&
        entry.in_best_for.value_or(request.objective) == request.objective)
      entries.push_back({.method = entry.name, .seed = request.seed});
  return entries;
}

// Runs the entries in batches of `width`, each batch with its share of the remaining budget.
void run_entries(SearchSession& session, const std::vector<PortfolioEntry>& entries, std::size_t width, double share) {
  const std::size_t batches = (entries.size() + width - 1) / width;
  for (std::size_t b = 0; b < batches && !session.result().proved_optimal; ++b) {
    const std::size_t begin = b * width;
    const auto batch = std::span(entries).subspan(begin, std::min(width, entries.size() - begin));
    const double rest = 1 - share * static_cast<double>(b) / static_cast<double>(batches);
    session.try_placers(batch, share / static_cast<double>(batches) / rest);
  }
}

// The searches that gained at least a quarter of what the best of them gained in these steps; all if none gained.
std::vector<PortfolioEntry> those_that_helped(std::span<const PlacerStep> steps, const PlacerRequest& request) {
  constexpr Ticks part = 4;
  Ticks most = 0;
  for (const PlacerStep& step : steps) most = std::max(most, step.gained);
  std::vector<PortfolioEntry> helped;
  for (const PortfolioEntry& entry : entries_of(PlacerRole::search, request))
    if (std::ranges::any_of(
            steps, [&](const PlacerStep& step) { return step.method == entry.method && step.gained >= most / part; }))
      helped.push_back(entry);
  return helped;
}

PlacerResult place_best(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<BestOptions>(table);
  const std::size_t units = make_grouping(*request.problem, GroupingKind::colocation).count();
  SearchSession session(request, "best", static_cast<std::uint64_t>(options.moves_per_unit) * units);
  const std::size_t width = session.width(static_cast<std::size_t>(options.width));
  if (request.start != nullptr) session.begin();
  session.try_placers(entries_of(PlacerRole::quick, request));
  if (request.stop && request.stop()) return session.result();

  // The bounds reached in given seconds depend on the machine: with a budget of evaluations, only bounds that need no
  // time limit are computed.
  const double seconds = session.counts_evaluations() ? 0 : options.bound_share * *session.seconds_left();
  const BoundReport bounds = lower_bounds(*request.problem, request.objective, seconds, request.stop);
  if (bounds.infeasible) return session.result();
  session.bound(bounds.best().ticks);

  std::vector<PortfolioEntry> entries = entries_of(PlacerRole::exact, request);
  if (width == 1) {
    run_entries(session, entries, width, options.exact_share);
    entries.clear();
  }
  std::vector<PortfolioEntry> searches = entries_of(PlacerRole::search, request);
  for (std::int64_t round = 0; round < options.rounds && !searches.empty(); ++round) {
    // As many seeds of each search as are needed to use all workers.
    for (std::size_t i = 0; i < std::max(width, searches.size()); ++i) {
      entries.push_back(searches[i % searches.size()]);
      entries.back().seed = seed_of_chain(request.seed, static_cast<std::size_t>(round) * width + i / searches.size());
    }
    const std::size_t first = session.result().steps.size();
    run_entries(session, entries, width, 1 / static_cast<double>(options.rounds - round));
    if (session.exhausted() || session.result().proved_optimal) break;
    entries.clear();
    searches = those_that_helped(std::span(session.result().steps).subspan(first), request);
  }
  return session.result();
}

}  // namespace

PlacerEntry best_placer() {
  PlacerEntry entry;
  entry.name = "best";
  entry.summary = "All other placers within one budget; each search starts from the best placement so far.";
  entry.options = list_options<BestOptions>;
  entry.role = PlacerRole::other;
  entry.own_engine = true;
  entry.from_start = true;
  entry.place = place_best;
  return entry;
}

}  // namespace emplace::search
