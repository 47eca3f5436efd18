// The list of placers: a new one is a source file, a line in methods.hpp and a line here.
#include <cmath>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

Registry<PlacerEntry>& registry() {
  static Registry<PlacerEntry> all("placer", {
                                                 single_placer(),
                                                 device_placer(),
                                                 cpu_only_placer(),
                                                 auto_placer(),
                                                 expert_placer(),
                                                 round_robin_placer(),
                                                 random_placer(),
                                                 contiguous_placer(),
                                                 greedy_placer(),
                                                 scotch_placer(),
                                                 mincut_placer(),
                                                 metis_placer(),
                                                 heft_placer(),
                                                 cpop_placer(),
                                                 peft_placer(),
                                                 m_topo_placer(),
                                                 m_etf_placer(),
                                                 m_sct_placer(),
                                                 layers_placer(),
                                                 climb_placer(),
                                                 anneal_placer(),
                                                 tabu_placer(),
                                                 ruin_placer(),
                                                 brkga_placer(),
                                                 contracted_placer(),
                                                 layered_placer(),
                                                 dp_placer(),
                                                 dpl_placer(),
                                                 pipedream_like_placer(),
                                                 steepest_descent_placer(),
                                                 branch_and_bound_placer(),
                                                 milp_placer(),
                                                 greedy_latency_placer(),
                                                 milp_latency_placer(),
                                                 best_placer(),
                                             });
  return all;
}

}  // namespace

std::span<const PlacerEntry> placers() { return registry().entries(); }
void register_placer(PlacerEntry entry) { registry().add(std::move(entry)); }

namespace {

PlacerResult place_by(const PlacerEntry& entry, const PlacerRequest& request, const ConfigTable& options) {
  if (entry.only_for && *entry.only_for != request.objective)
    throw InputError(options.place(), "the placer {} needs --objective {}, found {}", quote(entry.name),
                     name_of(*entry.only_for), name_of(request.objective));
  if (entry.unfit)
    if (const std::string why = entry.unfit(request); !why.empty())
      throw InputError(options.place(), "the placer {} cannot be used: {}", quote(entry.name), why);
  PlacerRequest named = request;
  if (request.on_progress)
    named.on_progress = [&](PlacerProgress news) {
      if (news.method.empty()) news.method = entry.name;
      request.on_progress(news);
    };
  return entry.place(named, options);
}

}  // namespace

PlacerResult place_with(const std::string& method, const PlacerRequest& request, const ConfigTable& options) {
  if (request.evaluations && *request.evaluations == 0)
    throw InputError(options.place(), "a budget of 0 evaluations finds nothing");
  if (request.seconds && !(*request.seconds > 0 && std::isfinite(*request.seconds)))
    throw InputError(options.place(), "the budget must be above 0 seconds and finite, got {}", *request.seconds);

  constexpr std::string_view family = "device:";
  if (method.starts_with(family)) {
    ConfigTable with_name = options;
    with_name.set("name", {method.substr(family.size()), options.place()});
    return place_by(find_entry(placers(), "device", "placer"), request, with_name);
  }
  std::vector<std::string> names = entry_names(placers());
  for (const std::string& name : names)
    if (name == method) return place_by(find_entry(placers(), method, "placer"), request, options);
  for (const Device& device : request.problem->devices) names.push_back(std::string(family) + device.name);
  const std::string near = did_you_mean(method, names);
  throw InputError(options.place(), "unknown placer {}{}", quote(method),
                   near.empty() ? "; there are: " + join(names, ", ") : near);
}

ResultProof proof_of(const PlacerResult& result, const std::string& method, LowerBound known) {
  if (result.lower_bound > known.ticks)
    known = {result.lower_bound, result.bound_by.empty() ? method : result.bound_by};
  const bool reached = result.outcome.feasible() && result.outcome.makespan == known.ticks;
  return {std::move(known), result.proved_optimal || reached};
}

}  // namespace emplace::search
