// A portfolio: first the quick placers (with a budget of seconds, those that take least time first) and bounds, then
// the exact placers and the searches, as many in parallel as there are workers, each from the best placement so far.
// Searches that help get the time of those that do not.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/search/bound.hpp"
#include "search/common/search_session.hpp"
#include "search/methods.hpp"
#include "search/portfolio/by_gain.hpp"
#include "search/portfolio/fit.hpp"
#include "search/portfolio/inner_search.hpp"
#include "search/portfolio/members.hpp"
#include "search/portfolio/rounds.hpp"

namespace emplace::search {

namespace {

struct BestOptions {
  std::string roles = "all", without;
  double bound_share = 0.05, exact_share = 0.2;
  std::int64_t rounds = 4, width = 4, moves_per_unit = 500;
};

void describe(BestOptions& o, OptionVisitor& visit) {
  visit(
      "roles", o.roles,
      {.choices = {"all", "classic"},
       .help = "Which placers, and how searches share the budget: all, by what each gains for its cost; or classic, a "
               "baseline that does not change: the placers of version 0.1, in rounds."});
  visit("without", o.without,
        {.help = "Searches that are left out, separated by commas, to see what they are worth: layers,ruin."});
  visit("bound_share", o.bound_share, {.min = 0, .max = 0.9, .help = "Share of a budget of seconds for lower bounds."});
  visit("exact_share", o.exact_share,
        {.min = 0, .max = 0.9, .help = "Share of the budget for exact placers, if only one placer runs at a time."});
  visit("rounds", o.rounds,
        {.min = 1,
         .max = 1000,
         .help = "Number of rounds of searches; a search that did not help in one round is left out of the next.",
         .only_with = {{"roles", {"classic"}}}});
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

std::vector<PortfolioEntry> searches_of(const PlacerRequest& request, const BestOptions& options, Roles roles,
                                        const std::string& place) {
  std::vector<PortfolioEntry> searches = members(roles, PlacerRole::search, request);
  leave_out(searches, options.without, place);
  if (!options.without.empty())
    for (PortfolioEntry& each : searches)
      if (runs_searches_inside(each.method)) each.options.set("without", {options.without, place});
  return searches;
}

// The bounds reached in given seconds depend on the machine: with a budget of evaluations, only bounds that need no
// time limit are computed. Returns false if no placement is feasible.
bool find_bounds(const PlacerRequest& request, double share, SearchSession& session) {
  const double seconds = session.counts_evaluations() ? 0 : share * *session.seconds_left();
  const BoundReport bounds = lower_bounds(*request.problem, request.objective, seconds, request.stop);
  if (bounds.infeasible) return false;
  session.bound(bounds.best());
  return true;
}

PlacerResult place_best(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<BestOptions>(table);
  const Roles roles = options.roles == "classic" ? Roles::classic : Roles::all;
  const std::size_t units = make_grouping(*request.problem, GroupingKind::colocation).count();
  SearchSession session(request, "best", static_cast<std::uint64_t>(options.moves_per_unit) * units);
  const std::size_t width = session.width(static_cast<std::size_t>(options.width));
  std::vector<PortfolioEntry> searches = searches_of(request, options, roles, table.place());
  if (request.start != nullptr) session.begin();
  Fit fit(session, request, roles);
  const bool is_timed = !session.counts_evaluations();
  fit.run_quick_placers(width);
  if (request.stop && request.stop()) return session.result();
  if ((!is_timed || fit.has_time_for_bounds()) && !find_bounds(request, options.bound_share, session))
    return session.result();

  std::vector<PortfolioEntry> exact = members(roles, PlacerRole::exact, request);
  if (is_timed) fit.keep_fitting(exact, options.exact_share, 1);
  if (width == 1) {
    run_entries(session, exact, width, options.exact_share);
    exact.clear();
  }
  leave_out_unfit(searches, request, "best");
  const std::int64_t rounds =
      is_timed ? fit.keep_fitting(searches, 1, roles == Roles::classic ? options.rounds : 1) : options.rounds;
  if (roles == Roles::classic)
    run_rounds(session, std::move(exact), std::move(searches), width, rounds, request.seed);
  else
    run_by_gain(session, request, std::move(exact), std::move(searches), width);
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
