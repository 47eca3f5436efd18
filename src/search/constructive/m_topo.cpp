// m-TOPO (Baechi, section 3.1): units in topological order fill one accelerator after the other, and then the CPUs.
// Each device is filled up to an equal share of the needed memory plus the largest unit, and never above its own
// memory.
#include <algorithm>

#include "search/list/partial_schedule.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

Placement m_topo(const Problem& problem, const Units& units, MemoryView view) {
  std::vector<std::size_t> order;
  const std::vector<std::uint8_t> preferred = accelerators(problem);
  for (const int wanted : {1, 0})
    for (std::size_t d = 0; d < units.devices; ++d)
      if (preferred[d] == wanted) order.push_back(d);
  const auto sharing = std::count(preferred.begin(), preferred.end(), 1);

  Bytes sum = 0, largest = 0;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    sum += units.memory(unit, view);
    largest = std::max(largest, units.memory(unit, view));
  }
  const Bytes share = sum / sharing + largest;
  std::vector<Bytes> used(units.devices, 0);
  std::vector<std::uint8_t> of_unit(units.count());
  std::size_t filling = 0;  // positions in `order`
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    const Bytes need = units.memory(unit, view);
    const auto runs = [&](std::size_t at) { return units.grouping.allows(unit, order[at]); };
    const auto fits = [&](std::size_t at) {
      return used[order[at]] + need <= std::min(share, problem.devices[order[at]].memory);
    };
    // A unit that this device cannot run goes to the next one that can and has room; filling goes on with this device.
    while (filling + 1 < order.size() && runs(filling) && !fits(filling)) ++filling;
    std::size_t at = filling;
    while (at < order.size() && !(runs(at) && fits(at))) ++at;
    for (std::size_t earlier = 0; at == order.size() && earlier < filling; ++earlier)
      if (runs(earlier) && fits(earlier)) at = earlier;
    const std::size_t device = at == order.size() ? units.fastest[unit] : order[at];
    used[device] += need;
    of_unit[unit] = static_cast<std::uint8_t>(device);
  }
  return units.grouping.expand(of_unit);
}

PlacerResult place_m_topo(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Deadline deadline(request.seconds, request.stop);
  return place_by_list(request, deadline, all_outputs_first, [&](const Units& units, MemoryView view, const Deadline&) {
    return ListPlacement{m_topo(*request.problem, units, view), request.problem->op_count()};
  });
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

}  // namespace emplace::search
