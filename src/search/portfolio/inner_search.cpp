#include "search/portfolio/inner_search.hpp"

#include <algorithm>

#include "search/common/search_session.hpp"
#include "search/portfolio/by_gain.hpp"
#include "search/portfolio/members.hpp"

namespace emplace::search {

void describe(InnerOptions& o, OptionVisitor& visit) {
  visit("without", o.without,
        {.help = "Searches that are left out, separated by commas; `best` passes on its own option of that name."});
  visit(
      "moves_per_unit", o.moves_per_unit,
      {.min = 1, .max = 1'000'000'000, .help = "Evaluations per op if there is no budget of evaluations or seconds."});
}

namespace {

Placement search_inside(const Problem& smaller, const Placement& start, const PlacerRequest& request,
                        std::string_view method, const InnerOptions& options, const std::string& place,
                        SearchSession& session) {
  const Problem* const problem = &smaller;
  const auto evaluator =
      evaluate::make_local_evaluator({&problem, 1}, {request.schedule, request.objective, request.pipeline});
  PlacerRequest inner = request;
  inner.problem = problem;
  inner.evaluator = evaluator.get();
  inner.start = &start;
  inner.pool = nullptr;
  inner.is_job = true;
  inner.seconds = session.seconds_left();
  if (session.counts_evaluations()) inner.evaluations = session.evaluations_left() - 1;
  const std::string news_of = std::string(method) + ", tried out at its end";  // until then the step is not known
  if (request.on_progress)
    inner.on_progress = [&](PlacerProgress news) {
      news.method = news_of;
      news.best = session.outcome();
      request.on_progress(news);
    };

  std::vector<PortfolioEntry> searches = members(Roles::all, PlacerRole::search, inner);
  leave_out(searches, options.without, place);
  std::erase_if(searches, [](const PortfolioEntry& each) {
    return runs_searches_inside(each.method) || each.method == "learned";
  });
  SearchSession search(inner, std::string(method), 0);
  search.begin();
  run_by_gain(search, inner, {}, searches, 1);
  session.searched(search.result().evaluations);
  return search.placement();
}

}  // namespace

PlacerResult place_inside(const PlacerRequest& request, std::string_view method, const InnerOptions& options,
                          const std::string& place,
                          const std::function<Placement(const Placement& start, const InnerSearch& search)>& through) {
  SearchSession session(request, std::string(method),
                        static_cast<std::uint64_t>(options.moves_per_unit) * request.problem->op_count());
  session.begin();
  if (session.exhausted() || session.evaluations_left() < 2) return session.result();
  session.try_out(through(session.placement(), [&](const Problem& smaller, const Placement& start) {
    return search_inside(smaller, start, request, method, options, place, session);
  }));
  session.end_search();
  return session.result();
}

}  // namespace emplace::search
