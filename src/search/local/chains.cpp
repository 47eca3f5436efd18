#include "search/local/chains.hpp"

#include "emplace/base/random.hpp"

namespace emplace::search {

void describe(ChainOptions& o, OptionVisitor& visit) {
  visit("chains", o.chains,
        {.min = 1,
         .max = 10'000,
         .help = "Number of parallel searches, each with its share of the evaluations, whatever the number of workers; "
                 "with only a budget of seconds there is one per worker."});
  visit("moves_per_unit", o.moves_per_unit,
        {.min = 1,
         .max = 1'000'000'000,
         .help = "Moves tried per unit if there is no budget of evaluations or seconds."});
}

std::uint64_t seed_of_chain(std::uint64_t seed, std::size_t index) {
  if (index == 0) return seed;
  return Stream({.seed = seed, .purpose = Purpose::search, .update = index, .index = 2}).bits64();
}

PlacerResult search_in_chains(const std::string& method, const PlacerRequest& request, const ConfigTable& table,
                              const ChainOptions& options, const Chain& chain) {
  const Grouping units = make_grouping(*request.problem, GroupingKind::colocation);
  SearchSession session(request, method, static_cast<std::uint64_t>(options.moves_per_unit) * units.count());
  session.begin();
  const std::size_t width = session.width(static_cast<std::size_t>(options.chains));
  if (width == 1) {
    chain(units, session);
    session.end_search();
    return session.result();
  }
  std::vector<PortfolioEntry> entries;
  for (std::size_t i = 0; i < width; ++i) entries.push_back({method, table, seed_of_chain(request.seed, i)});
  session.try_placers(entries);
  return session.result();
}

}  // namespace emplace::search
