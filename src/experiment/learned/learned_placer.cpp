// A portfolio that begins with a trained policy: first the quick placers' answers (in models of many ops `layered`
// too), then two lines from the best of them, the policy's part (policy_search) with a climb behind it, and climbs
// alone; from the better one, the search goes on that gains most. Where a climb takes most of the budget there is one
// line (run_by_gain).
#include "experiment/learned/learned_placer.hpp"

#include <fmt/core.h>

#include "emplace/base/error.hpp"
#include "experiment/learned/policy_search.hpp"
#include "experiment/learned/shipped_policy.hpp"
#include "search/common/search_session.hpp"
#include "search/portfolio/by_gain.hpp"
#include "search/portfolio/fit.hpp"
#include "search/portfolio/members.hpp"

namespace emplace::experiment {

namespace {

std::string without_policy(const search::PlacerRequest&) {
  const std::string why_not = shipped_policy().why_not;
  return why_not.empty() ? ""
                         : fmt::format("it has no policy: {} (the environment variable {} names another run folder)",
                                       why_not, policy_variable);
}

// The searches of `best`, of which the policy's part begins.
std::vector<search::PortfolioEntry> searches_of(const search::PlacerRequest& request, const ConfigTable& options) {
  const std::string policy = "learned", climb = "climb";
  std::vector<search::PortfolioEntry> searches{{.method = policy, .options = options, .seed = request.seed},
                                               {.method = climb, .seed = request.seed}};
  for (search::PortfolioEntry& each : search::members(search::Roles::all, search::PlacerRole::search, request))
    if (each.method != policy && each.method != climb) searches.push_back(std::move(each));
  search::leave_out_unfit(searches, request, policy);
  return searches;
}

void run_portfolio(const search::PlacerRequest& request, search::SearchSession& session, const ConfigTable& options,
                   std::size_t wanted_width) {
  const std::size_t width = session.width(wanted_width);
  if (request.start != nullptr) session.begin();
  search::Fit fit(session, request, search::Roles::all);
  fit.run_quick_placers(width);
  std::vector<search::PortfolioEntry> searches = searches_of(request, options);
  if (!session.counts_evaluations()) fit.keep_fitting(searches, 1, 1);
  search::run_by_gain(session, request, {}, searches, width);
}

search::PlacerResult place_learned(const search::PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<LearnedOptions>(table);
  const std::shared_ptr<const TrainedPolicy> trained = shipped_policy().policy;
  const std::size_t units = make_grouping(*request.problem, GroupingKind::colocation).count();
  search::SearchSession session(request, "learned", static_cast<std::uint64_t>(options.moves_per_unit) * units);
  if (request.is_job) {
    session.begin();
    if (!session.exhausted()) search_by_policy(request, options, *trained, session);
  } else {
    run_portfolio(request, session, table, static_cast<std::size_t>(options.width));
  }
  search::PlacerResult result = session.result();
  if (!request.is_job) result.note = unseen_by(*trained, *request.problem);
  return result;
}

}  // namespace

void register_learned_placer() {
  static const bool done = [] {
    search::PlacerEntry entry;
    entry.name = "learned";
    entry.summary =
        "A policy trained on other models and machines: its placements, improved by local search; then the searches of "
        "best.";
    entry.reference = "Zhou et al.: GDP (arXiv 1910.01578, 2019); Walshaw (2004)";
    entry.role = search::PlacerRole::search;
    entry.options = list_options<LearnedOptions>;
    entry.only_for = Objective::step;
    entry.own_engine = true;
    entry.unfit = without_policy;
    entry.from_start = true;
    entry.place = place_learned;
    search::register_placer(std::move(entry));
    return true;
  }();
  static_cast<void>(done);
}

}  // namespace emplace::experiment
