#include "search/portfolio/members.hpp"

#include <algorithm>
#include <string>

#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
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

void leave_out(std::vector<PortfolioEntry>& searches, const std::string& names, const std::string& place) {
  std::vector<std::string> there;
  for (const PortfolioEntry& each : searches) there.push_back(each.method);
  for (const std::string& name : names.empty() ? std::vector<std::string>{} : split(names, ',')) {
    if (std::ranges::find(there, name) == there.end())
      throw InputError(place, "'without': {} is no search of `best`{}; there are: {}", quote(name),
                       did_you_mean(name, there), join(there, ", "));
    std::erase_if(searches, [&](const PortfolioEntry& each) { return each.method == name; });
  }
}

void leave_out_unfit(std::vector<PortfolioEntry>& searches, const PlacerRequest& request, std::string_view name) {
  std::erase_if(searches, [&](const PortfolioEntry& each) {
    const PlacerEntry& entry = find_entry(placers(), each.method, "placer");
    if (entry.pays && !entry.pays(request)) return true;
    const std::string why = entry.unfit ? entry.unfit(request) : "";
    if (!why.empty()) log_warning("{} goes on without {}: {}", name, each.method, why);
    return !why.empty();
  });
}

}  // namespace emplace::search
