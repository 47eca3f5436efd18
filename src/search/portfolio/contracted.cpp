// The searches of `best` on a smaller problem, in which small ops are joined with their only consumer or producer
// (problem/contract). The graph that a framework makes of a model has many ops that do next to nothing; a quarter to a
// half of them are left, so that a move takes less time and the joined ops need not be moved one by one (multilevel
// refinement, Walshaw 2004; contraction of edges that a partitioner would hardly cut).
#include "search/portfolio/contracted.hpp"

#include "search/methods.hpp"
#include "search/portfolio/inner_search.hpp"

namespace emplace::search {

namespace {

struct ContractedOptions : InnerOptions {
  double most_share = joined_share;
};

void describe(ContractedOptions& o, OptionVisitor& visit) {
  visit(
      "most_share", o.most_share,
      {.min = 0,
       .max = 1,
       .above_min = true,
       .help = "Ops are joined up to this share of the work of all ops; half of it, or half of that, and so on, where "
               "otherwise less than 24 % of the ops would be left."});
  describe(static_cast<InnerOptions&>(o), visit);
}

PlacerResult place_contracted(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<ContractedOptions>(table);
  SearchSession session = inner_session(request, contracted_search, options);
  session.begin();
  if (session.exhausted() || session.evaluations_left() < 2) return session.result();
  const Contracted contracted = contract(*request.problem, options.most_share, least_left);
  const Placement found = search_inside(contracted.problem, contracted.contract(session.placement()), request,
                                        contracted_search, options, table.place(), session);
  session.try_out(contracted.expand(*request.problem, found));
  session.end_search();
  return session.result();
}

}  // namespace

bool joins_pay(const Problem& problem) { return 2 * contracted_count(problem, joined_share) <= problem.op_count(); }

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
  entry.pays = [](const PlacerRequest& request) { return joins_pay(*request.problem); };
  entry.place = place_contracted;
  return entry;
}

}  // namespace emplace::search
