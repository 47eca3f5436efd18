// Exact contiguous splits of a pipeline: the dynamic program over ideals, and over the prefixes of one order (DPL).
#include <algorithm>

#include "emplace/base/error.hpp"
#include "search/methods.hpp"
#include "search/pipeline/contiguous_split.hpp"

namespace emplace::search {

namespace {

struct DplOptions {
  bool merge_idle = true;
};

void describe(DplOptions& o, OptionVisitor& visit) {
  visit("merge_idle", o.merge_idle,
        {.help = "Ops without cost and with one neighbour are placed with it (if no feasible split is lost)."});
}

struct DpOptions {
  std::int64_t ideals = 100000;
  DplOptions classes;
};

void describe(DpOptions& o, OptionVisitor& visit) {
  visit("ideals", o.ideals,
        {.min = 2,
         .max = 1e8,
         .help = "Largest number of ideals (sets of ops closed under predecessors); problems with more are refused. "
                 "The run time grows with the square."});
  describe(o.classes, visit);
}

constexpr const char* none = "no split into pieces that follow one another keeps to the memories, devices and routes";

PlacerResult place_dpl(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<DplOptions>(options);
  ContiguousSplitter splitter(request, options.place(), split_classes(*request.problem, o.merge_idle));
  return place_along_one_order(request, splitter);
}

PlacerResult place_dp(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<DpOptions>(options);
  ContiguousSplitter splitter(request, options.place(), split_classes(*request.problem, o.classes.merge_idle));
  const auto first = splitter.along_one_order();
  const auto most = static_cast<std::size_t>(o.ideals);
  const bool known = !splitter.stopped() && splitter.find_ideals(most);
  if (!known && !splitter.stopped())
    throw InputError(options.place(),
                     "the {} classes of ops have more than {} ideals ({}); dpl, which tries one order only, can be "
                     "used instead",
                     splitter.classes(), std::min(most, splitter.most_ideals_in_memory()),
                     most <= splitter.most_ideals_in_memory() ? "the option ideals sets the limit"
                                                              : "as many as fit in 2 GiB of memory for these devices");
  const auto best = known ? splitter.over_ideals() : std::nullopt;
  if (splitter.stopped()) {
    const std::string why = "the budget of seconds ended before the dynamic program";
    if (best) return scored_split(request, *best, why);
    return first ? scored_split(request, *first, why + "; this is the split of dpl") : on_best_device(request, why);
  }
  return best ? scored_split(request, *best, "no split into pieces that follow one another has a smaller load")
              : on_best_device(request, none);
}

}  // namespace

PlacerEntry dp_placer() {
  PlacerEntry entry;
  entry.name = "dp";
  entry.summary = "Contiguous split of least pipeline load: dynamic program over all ideals of the graph.";
  entry.reference = "Tarnawski et al. 2020";
  entry.only_for = Objective::pipeline;
  entry.role = PlacerRole::exact;
  entry.options = list_options<DpOptions>;
  entry.place = place_dp;
  return entry;
}

PlacerEntry dpl_placer() {
  PlacerEntry entry;
  entry.name = "dpl";
  entry.summary = "The best contiguous split of a pipeline along one depth-first order, by dynamic programming.";
  entry.reference = "Tarnawski et al. 2020";
  entry.only_for = Objective::pipeline;
  entry.options = list_options<DplOptions>;
  entry.place = place_dpl;
  return entry;
}

}  // namespace emplace::search
