// The searches of `best` on a smaller problem, in which small ops are joined with their only consumer or producer
// (problem/contract). The graph that a framework makes of a model has many ops that do next to nothing; a quarter to a
// half of them are left, so that a move takes less time and the joined ops need not be moved one by one (multilevel
// refinement, Walshaw 2004; contraction of edges that a partitioner would hardly cut).
#include <algorithm>
#include <string>
#include <string_view>

#include "problem/contract.hpp"
#include "search/common/search_session.hpp"
#include "search/methods.hpp"
#include "search/portfolio/by_gain.hpp"
#include "search/portfolio/members.hpp"

namespace emplace::search {

namespace {

constexpr double default_share = 0.00005;
// With fewer than this share of the ops, the smaller problem leaves too little to choose.
constexpr double least_left = 0.24;

struct ContractedOptions {
  double most_share = default_share;
  std::string without;
  std::int64_t moves_per_unit = 200;
};

void describe(ContractedOptions& o, OptionVisitor& visit) {
  visit(
      "most_share", o.most_share,
      {.min = 0,
       .max = 1,
       .above_min = true,
       .help = "Ops are joined up to this share of the work of all ops; half of it, or half of that, and so on, where "
               "otherwise less than 24 % of the ops would be left."});
  visit("without", o.without,
        {.help = "Searches that are left out, separated by commas; `best` passes on its own option of that name."});
  visit(
      "moves_per_unit", o.moves_per_unit,
      {.min = 1, .max = 1'000'000'000, .help = "Evaluations per op if there is no budget of evaluations or seconds."});
}

// The searches of `best` that begin from nothing but a placement.
std::vector<PortfolioEntry> searches_of(const PlacerRequest& request, const ContractedOptions& options,
                                        const std::string& place) {
  std::vector<PortfolioEntry> searches = members(Roles::all, PlacerRole::search, request);
  leave_out(searches, options.without, place);
  std::erase_if(searches, [](const PortfolioEntry& each) {
    return each.method == contracted_search || each.method == "learned";
  });
  return searches;
}

// Searches the smaller problem with all that is left of the session's budget but one evaluation. Returns the placement
// of the whole problem.
Placement search_smaller(const PlacerRequest& request, const ContractedOptions& options, const std::string& place,
                         SearchSession& session) {
  const Contracted contracted = contract(*request.problem, options.most_share, least_left);
  const Problem* const smaller = &contracted.problem;
  const auto evaluator =
      evaluate::make_local_evaluator({&smaller, 1}, {request.schedule, request.objective, request.pipeline});
  const Placement start = contracted.contract(session.placement());
  PlacerRequest inner = request;
  inner.problem = smaller;
  inner.evaluator = evaluator.get();
  inner.start = &start;
  inner.pool = nullptr;
  inner.is_job = true;
  inner.seconds = session.seconds_left();
  if (session.counts_evaluations()) inner.evaluations = session.evaluations_left() - 1;
  if (request.on_progress)
    inner.on_progress = [&](PlacerProgress news) {
      news.method = "contracted, tried out at its end";  // until then nothing is known of the whole problem's step
      news.best = session.outcome();
      request.on_progress(news);
    };
  SearchSession search(inner, std::string(contracted_search), 0);
  search.begin();
  run_by_gain(search, inner, {}, searches_of(inner, options, place), 1);
  session.searched(search.result().evaluations);
  return contracted.expand(*request.problem, search.placement());
}

PlacerResult place_contracted(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<ContractedOptions>(table);
  const std::size_t ops = request.problem->op_count();
  SearchSession session(request, std::string(contracted_search),
                        static_cast<std::uint64_t>(options.moves_per_unit) * ops);
  session.begin();
  if (session.exhausted() || session.evaluations_left() < 2) return session.result();
  session.try_out(search_smaller(request, options, table.place(), session));
  session.end_search();
  return session.result();
}

// It pays where joins leave at most two thirds of the ops.
bool pays(const PlacerRequest& request) {
  return 3 * contracted_count(*request.problem, default_share) <= 2 * request.problem->op_count();
}

}  // namespace

PlacerEntry contracted_placer() {
  PlacerEntry entry;
  entry.name = std::string(contracted_search);
  entry.summary = "The searches of best on a smaller problem, in which small ops are joined with their neighbours.";
  entry.reference = "Walshaw (2004)";
  entry.role = PlacerRole::search;
  entry.options = list_options<ContractedOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.from_start = true;
  entry.pays = pays;
  entry.place = place_contracted;
  return entry;
}

}  // namespace emplace::search
