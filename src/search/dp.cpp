// Exact contiguous splits of a pipeline: the dynamic program over ideals, and over the prefixes of one order (DPL).
#include "contiguous_split.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "methods.hpp"
#include "scorer.hpp"
#include "units.hpp"

namespace emplace {

namespace {

struct DplOptions {
  bool merge_idle = true;
};

void describe(DplOptions& o, OptionVisitor& visit) {
  visit("merge_idle", o.merge_idle,
        {.help = "Ops that take no time and have one neighbour go where it goes (where that loses nothing)."});
}

struct DpOptions {
  std::int64_t ideals = 100000;
  DplOptions classes;
};

void describe(DpOptions& o, OptionVisitor& visit) {
  visit("ideals", o.ideals,
        {.min = 2,
         .max = 1e8,
         .help = "Most sets of ops closed under predecessors; refused beyond. Time grows with the square."});
  describe(o.classes, visit);
}

// Where no contiguous split can be had: everything on the best device.
PlacerResult best_device(const PlacerRequest& request, const std::string& why) {
  const Units units(*request.problem);
  Scorer scorer(request);
  std::vector<std::uint8_t> of_unit(units.count());
  for (std::size_t device = 0; device < units.devices && !scorer.exhausted(); ++device) {
    for (std::size_t unit = 0; unit < units.count(); ++unit) of_unit[unit] = units.device_or_fastest(unit, device);
    scorer.score(units.grouping.expand(of_unit));
  }
  PlacerResult result = scorer.result();
  result.note = why + "; this is everything on the best device";
  return result;
}

PlacerResult scored(const PlacerRequest& request, const std::vector<std::uint8_t>& devices, const std::string& note) {
  Scorer scorer(request);
  scorer.score(Placement{devices, {}});
  PlacerResult result = scorer.result();
  result.note = note;
  return result;
}

constexpr const char* none = "no contiguous split keeps to the memories, devices and routes";

PlacerResult place_dpl(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<DplOptions>(options);
  ContiguousSplitter splitter(request, options.place(), o.merge_idle);
  const auto split = splitter.along_one_order();
  if (split) return scored(request, *split, splitter.stopped() ? "the budget of seconds ended first" : "");
  return best_device(request, splitter.stopped() ? "the budget of seconds ended first"
                                                 : "no split along the depth-first order is feasible");
}

PlacerResult place_dp(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<DpOptions>(options);
  ContiguousSplitter splitter(request, options.place(), o.classes.merge_idle);
  const auto first = splitter.along_one_order();
  const bool early = splitter.stopped();
  const auto best = early ? std::nullopt : splitter.over_ideals(static_cast<std::size_t>(o.ideals));
  if (splitter.stopped()) {
    const std::string why = "the budget of seconds ended before the dynamic program";
    if (best) return scored(request, *best, why);
    return first ? scored(request, *first, why + "; this is the split of dpl") : best_device(request, why);
  }
  return best ? scored(request, *best, "no contiguous split has a smaller load") : best_device(request, none);
}

}  // namespace

PlacerEntry dp_placer() {
  PlacerEntry entry;
  entry.name = "dp";
  entry.summary = "Contiguous split of least pipeline load: dynamic program over all ideals of the graph.";
  entry.reference = "Tarnawski et al. 2020";
  entry.only_for = Objective::pipeline;
  entry.options = list_options<DpOptions>;
  entry.place = place_dp;
  return entry;
}

PlacerEntry dpl_placer() {
  PlacerEntry entry;
  entry.name = "dpl";
  entry.summary = "Contiguous split of a pipeline along one depth-first order, the best there is by dynamic program.";
  entry.reference = "Tarnawski et al. 2020";
  entry.only_for = Objective::pipeline;
  entry.options = list_options<DplOptions>;
  entry.place = place_dpl;
  return entry;
}

}  // namespace emplace
