// m-TOPO (Baechi, section 3.1): units in topological order fill one device after the other, each up to an equal share
// of all memory that is needed plus the largest unit, and never beyond its own memory.
#include <algorithm>

#include "methods.hpp"
#include "partial_schedule.hpp"

namespace emplace {

namespace {

Placement m_topo(const Problem& problem, const Units& units, MemoryView view) {
  Bytes sum = 0, largest = 0;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    sum += units.memory(unit, view);
    largest = std::max(largest, units.memory(unit, view));
  }
  const Bytes share = sum / static_cast<Bytes>(units.devices) + largest;
  std::vector<Bytes> used(units.devices, 0);
  std::vector<std::uint8_t> of_unit(units.count());
  std::size_t filling = 0;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    const Bytes need = units.memory(unit, view);
    const auto fits = [&](std::size_t d) { return used[d] + need <= std::min(share, problem.devices[d].memory); };
    // What this device cannot run goes to the next that can and has room, and the filling goes on here.
    while (filling + 1 < units.devices && units.grouping.allows(unit, filling) && !fits(filling)) ++filling;
    std::size_t at = filling;
    while (at < units.devices && !(units.grouping.allows(unit, at) && fits(at))) ++at;
    if (at == units.devices) {  // an earlier one with room, or none at all
      at = 0;
      while (at < filling && !(units.grouping.allows(unit, at) && fits(at))) ++at;
      if (!units.grouping.allows(unit, at) || !fits(at)) at = units.fastest[unit];
    }
    used[at] += need;
    of_unit[unit] = static_cast<std::uint8_t>(at);
  }
  return units.grouping.expand(of_unit);
}

PlacerResult place_m_topo(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  return place_by_list(request, all_outputs_first,
                       [&](const Units& units, MemoryView view) { return m_topo(*request.problem, units, view); });
}

}  // namespace

PlacerEntry m_topo_placer() {
  PlacerEntry entry;
  entry.name = "m-topo";
  entry.summary = "Topological order cut into pieces of equal memory.";
  entry.reference = "Jeon et al., Baechi (2020)";
  entry.options = list_options<NoOptions>;
  entry.place = place_m_topo;
  return entry;
}

}  // namespace emplace
