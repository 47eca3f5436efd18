// The searches of `best` on a smaller problem, in which small ops are joined with their only consumer or producer
// (problem/contract). The graph that a framework makes of a model has many ops that do next to nothing; a quarter to a
// half of them are left, so that a move takes less time and the joined ops need not be moved one by one (multilevel
// refinement, Walshaw 2004; contraction of edges that a partitioner would hardly cut).
#include "problem/contract.hpp"
#include "search/methods.hpp"
#include "search/portfolio/inner_search.hpp"

namespace emplace::search {

namespace {

constexpr double default_share = 0.00005;
// With fewer than this share of the ops, the smaller problem leaves too little to choose.
constexpr double least_left = 0.24;

struct ContractedOptions : InnerOptions {
  double most_share = default_share;
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
  const auto through = [&](const Placement& start, const InnerSearch& search) {
    const Contracted contracted = contract(*request.problem, options.most_share, least_left);
    return contracted.expand(*request.problem, search(contracted.problem, contracted.contract(start)));
  };
  return place_inside(request, contracted_search, options, table.place(), through);
}

// It pays where joins leave at most half of the ops, as in a framework's graph.
bool joins_pay(const PlacerRequest& request) {
  return 2 * contracted_count(*request.problem, default_share) <= request.problem->op_count();
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
  entry.pays = joins_pay;
  entry.place = place_contracted;
  return entry;
}

}  // namespace emplace::search
