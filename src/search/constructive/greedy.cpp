// Load balance: goes through the units in topological order, and gives each to the device that would finish its load
// first, among those that can run the unit and have memory left (list scheduling without precedence, Graham 1969). This
// is tried for two views of memory.
#include <algorithm>

#include "emplace/search/scorer.hpp"
#include "search/common/units.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

std::vector<std::uint8_t> balance(const Problem& problem, const Units& units, MemoryView view) {
  std::vector<Ticks> load(units.devices, 0);
  std::vector<Bytes> used(units.devices, 0);
  std::vector<std::uint8_t> of_unit(units.count());
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    const Bytes need = units.memory(unit, view);
    const auto overflow = [&](std::size_t d) {
      return problem.devices[d].memory == no_memory_limit
                 ? 0
                 : std::max<Bytes>(0, used[d] + need - problem.devices[d].memory);
    };
    std::size_t best = units.devices;
    for (std::size_t d = 0; d < units.devices; ++d) {
      if (!units.grouping.allows(unit, d)) continue;
      if (best == units.devices || overflow(d) < overflow(best) ||
          (overflow(d) == overflow(best) &&
           load[d] + units.time[unit * units.devices + d] < load[best] + units.time[unit * units.devices + best]))
        best = d;
    }
    load[best] += units.time[unit * units.devices + best];
    used[best] += need;
    of_unit[unit] = static_cast<std::uint8_t>(best);
  }
  return of_unit;
}

PlacerResult place_greedy(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Units units(*request.problem);
  const auto by_resident = balance(*request.problem, units, MemoryView::resident);
  const auto by_outputs = balance(*request.problem, units, MemoryView::outputs);
  Scorer scorer(request);
  scorer.score(units.grouping.expand(by_resident));
  if (by_outputs != by_resident) scorer.score(units.grouping.expand(by_outputs));
  return scorer.result();
}

}  // namespace

PlacerEntry greedy_placer() {
  PlacerEntry entry;
  entry.name = "greedy";
  entry.summary = "Load balance: units in topological order to the device that finishes its load first.";
  entry.reference = "Graham (1969)";
  entry.options = list_options<NoOptions>;
  entry.place = place_greedy;
  return entry;
}

}  // namespace emplace::search
