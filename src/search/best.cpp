// A portfolio: the quick placers, the exact ones for a share of the budget, and then the searches in turn, each from
// the best placement so far.
#include <algorithm>

#include "emplace/problem/grouping.hpp"
#include "incumbent.hpp"
#include "methods.hpp"

namespace emplace {

namespace {

struct BestOptions {
  double exact_share = 0.2;
  std::int64_t rounds = 2, moves_per_unit = 500;
};

void describe(BestOptions& o, OptionVisitor& visit) {
  visit("exact_share", o.exact_share, {.min = 0, .max = 1, .help = "Share of the budget for each exact placer."});
  visit("rounds", o.rounds, {.min = 1, .max = 1000, .help = "How often each search has its turn."});
  visit("moves_per_unit", o.moves_per_unit,
        {.min = 1,
         .max = 1'000'000'000,
         .help = "Evaluations for each unit, where there is no budget of them or seconds."});
}

PlacerResult place_best(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<BestOptions>(table);
  const std::size_t units = make_grouping(*request.problem, GroupingKind::colocation).count();
  Incumbent incumbent(request, static_cast<std::uint64_t>(options.moves_per_unit) * units);
  std::vector<std::string> searches, exact;
  for (const PlacerEntry& entry : placers()) {
    if (entry.only_for && *entry.only_for != request.objective) continue;
    if (entry.role == PlacerRole::search) searches.push_back(entry.name);
    if (entry.role == PlacerRole::exact) exact.push_back(entry.name);
    if (entry.role != PlacerRole::quick) continue;
    if (entry.unfit && !entry.unfit(request).empty()) continue;  // it needs what the problem has not, such as a CPU
    incumbent.try_placer(entry.name);
  }
  for (const std::string& method : exact)
    if (!incumbent.result().proved_optimal) incumbent.try_placer(method, options.exact_share);
  const auto turns = static_cast<std::size_t>(options.rounds) * searches.size();
  for (std::size_t turn = 0; turn < turns && !incumbent.result().proved_optimal; ++turn)
    incumbent.try_placer(searches[turn % searches.size()], 1.0 / static_cast<double>(turns - turn));
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
  entry.place = place_best;
  return entry;
}

}  // namespace emplace
