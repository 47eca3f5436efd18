#include "search/portfolio/members.hpp"

#include <algorithm>

#include "search/common/predicted_time.hpp"

namespace emplace::search {

bool is_classic(std::string_view method) {
  constexpr std::string_view classic[] = {
      "single",
      "cpu-only",
      "auto",
      "expert",
      "round-robin",
      "random",
      "contiguous",
      "greedy",
      "scotch",
      "mincut",
      "metis",
      "heft",
      "cpop",
      "peft",
      "m-topo",
      "m-etf",
      "m-sct",
      "climb",
      "anneal",
      "tabu",
      "brkga",
      "dp",
      "dpl",
      "pipedream-like",
      "milp",
      "steepest-descent",
      "branch-and-bound",
  };
  return std::ranges::find(classic, method) != std::end(classic);
}

std::vector<PortfolioEntry> members(Roles roles, PlacerRole role, const PlacerRequest& request) {
  std::vector<PortfolioEntry> entries;
  for (const PlacerEntry& entry : placers())
    if (is_in_best(entry, role, request.objective) && (roles == Roles::all || is_classic(entry.name)))
      entries.push_back({.method = entry.name, .seed = request.seed});
  if (roles == Roles::classic)
    for (PortfolioEntry& entry : entries)
      if (entry.method == "climb") entry.options.set("moves", {"all", "classic"});
  return entries;
}

}  // namespace emplace::search
