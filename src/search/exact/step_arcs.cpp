#include "search/exact/step_arcs.hpp"

#include <algorithm>

namespace emplace::search {

StepArcs::StepArcs(const Problem& p, const std::vector<std::uint8_t>& possible, const EarliestTimes& earliest)
    : problem(p), ops(p.op_count()), devices(p.device_count()), units(make_grouping(p, GroupingKind::colocation)) {
  time.assign(ops * devices, never);
  head.assign(ops * devices, never);
  tail = earliest.tail;
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    for (std::size_t d = 0; d < devices; ++d) {
      bool open = true;
      for (const std::uint32_t op : units.members[unit]) {
        const std::size_t at = op * devices + d;
        open = open && possible[at] != 0 && earliest.end[at] != never && earliest.tail[at] != never;
      }
      if (!open) continue;
      for (const std::uint32_t op : units.members[unit]) {
        const std::size_t at = op * devices + d;
        time[at] = p.op_time[at];
        head[at] = earliest.end[at] - time[at];
      }
    }

  const std::size_t classes = p.route_classes.size();
  std::vector<std::int64_t> arc_to(ops, -1);  // arc from the current producer to each op; -1: none
  for (const std::uint32_t producer : p.topological) {
    const std::size_t first = arcs.size();
    for (const std::uint32_t tensor : p.outputs[producer])
      for (const std::uint32_t consumer : p.consumers[tensor]) {
        std::int64_t& at = arc_to[consumer];
        if (at < static_cast<std::int64_t>(first)) {
          at = static_cast<std::int64_t>(arcs.size());
          arcs.push_back({producer, consumer});
          transfer.resize(transfer.size() + devices, 0);
        }
        if (units.unit_of_op[producer] == units.unit_of_op[consumer]) continue;
        for (std::size_t to = 0; to < devices; ++to) {
          Ticks least = never;
          for (std::size_t from = 0; from < devices; ++from)
            if (const auto cls = p.route_class[from * devices + to];
                cls >= 0 && time[producer * devices + from] != never)
              least = std::min(least, p.transfer_time[tensor * classes + static_cast<std::size_t>(cls)]);
          // Without any route v can be on d only if u is; the head of v takes that into account.
          Ticks& longest = transfer[static_cast<std::size_t>(at) * devices + to];
          if (least != never) longest = std::max(longest, least);
        }
      }
  }
}

}  // namespace emplace::search
