#include "search/exact/step_model.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace emplace::search {

namespace {

// Two ops are exchangeable if these are equal: times, bytes, and their arcs with the transfers on them.
std::vector<Ticks> signature(const StepModel& m, std::size_t op) {
  std::vector<Ticks> s(m.time.begin() + static_cast<std::ptrdiff_t>(op * m.devices),
                       m.time.begin() + static_cast<std::ptrdiff_t>((op + 1) * m.devices));
  s.push_back(m.resident[op]);
  for (const auto* arcs : {&m.inputs[op], &m.consumers[op]}) {
    s.push_back(-1);  // marks the end of a list; ids and times are not negative
    for (const StepModel::Arc& arc : *arcs) {
      s.push_back(arc.op);
      s.push_back(arc.transfer);
    }
  }
  return s;
}

// Whether exchanging devices a and b changes nothing.
bool exchangeable(const Problem& p, std::size_t a, std::size_t b) {
  const std::size_t devices = p.device_count();
  if (p.devices[a].memory != p.devices[b].memory) return false;
  const auto cls = [&](std::size_t from, std::size_t to) { return p.route_class[from * devices + to]; };
  if (cls(a, b) != cls(b, a)) return false;
  for (std::size_t d = 0; d < devices; ++d)
    if (d != a && d != b && (cls(a, d) != cls(b, d) || cls(d, a) != cls(d, b))) return false;
  for (std::size_t op = 0; op < p.op_count(); ++op)
    if (p.op_time[op * devices + a] != p.op_time[op * devices + b]) return false;
  return true;
}

}  // namespace

StepModel::StepModel(const Problem& p, const Deadline& deadline)
    : ops(p.op_count()),
      devices(p.device_count()),
      topological(p.topological),
      classes(p.route_classes.size()),
      route_class(p.route_class),
      inputs(ops),
      consumers(ops) {
  const std::vector<std::uint8_t> possible = possible_devices(p);
  EarliestTimes earliest = earliest_times(p, possible);
  end = std::move(earliest.end);
  tail = std::move(earliest.tail);
  for (std::size_t i = 0; i < ops * devices; ++i) {
    const bool open = possible[i] != 0 && end[i] != never && tail[i] != never;
    time.push_back(open ? p.op_time[i] : never);
  }
  resident = p.resident;
  for (const Device& device : p.devices) memory.push_back(device.memory);
  for (std::size_t op = 0; op < ops; ++op)
    group.push_back(p.group[op].is_none() ? -1 : static_cast<std::int32_t>(p.group[op].index()));

  // Indexed by (producer, consumer).
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> tensors;
  for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor)
    for (const std::uint32_t consumer : p.consumers[tensor])
      tensors[{p.producer[tensor].value, consumer}].push_back(tensor);
  std::map<std::vector<Ticks>, std::uint32_t> rows;
  std::vector<Ticks> longest(classes);
  for (const auto& [pair, list] : tensors) {
    std::fill(longest.begin(), longest.end(), 0);
    for (const std::uint32_t tensor : list)
      for (std::size_t cls = 0; cls < classes; ++cls)
        longest[cls] = std::max(longest[cls], p.transfer_time[tensor * classes + cls]);
    const auto [row, is_new] = rows.try_emplace(longest, static_cast<std::uint32_t>(rows.size()));
    if (is_new) transfer.insert(transfer.end(), longest.begin(), longest.end());
    consumers[pair.first].push_back({pair.second, row->second});
    inputs[pair.second].push_back({pair.first, row->second});
  }

  for (std::uint32_t d = 0; d < devices; ++d) {
    std::uint32_t first = 0;
    while (first < d && !(kind[first] == first && exchangeable(p, first, d))) ++first;
    kind.push_back(first);
  }
  after.assign(ops, -1);
  std::map<std::vector<Ticks>, std::int32_t> last;
  for (std::size_t op = 0; op < ops; ++op) {
    if (group[op] >= 0) continue;
    const auto [at, fresh] = last.try_emplace(signature(*this, op), static_cast<std::int32_t>(op));
    if (!fresh) after[op] = std::exchange(at->second, static_cast<std::int32_t>(op));
  }

  const UnitTimes units = unit_times(p, possible);
  weight = best_load_weights(units, quick_load_weights(units), deadline).of_device;
  for (std::size_t op = 0; op < ops; ++op) {
    Wide least = 0;
    bool any = false;
    for (std::size_t d = 0; d < devices; ++d)
      if (const Ticks there = time[op * devices + d]; there != never) {
        least = any ? std::min(least, Wide{there} * weight[d]) : Wide{there} * weight[d];
        any = true;
      }
    work.push_back(least);
  }
}

Ticks StepModel::makespan(const Placement& placement) const {
  std::vector<Ticks> finish(ops, 0), ready(devices, 0);
  std::vector<Bytes> used(devices, 0);
  std::map<std::int32_t, std::size_t> place_of_group;
  Ticks last = 0;
  for (const std::uint32_t op : placement.order) {
    const std::size_t d = placement.device[op];
    Ticks start = ready[d];
    for (const Arc& arc : inputs[op]) {
      const Ticks moved = transfer_time(arc, placement.device[arc.op], d);
      start = std::max(start, later(finish[arc.op], moved));
    }
    finish[op] = later(start, time[op * devices + d]);
    if (finish[op] == never || (used[d] += resident[op]) > memory[d]) return never;
    if (group[op] >= 0 && place_of_group.try_emplace(group[op], d).first->second != d) return never;
    ready[d] = finish[op];
    last = std::max(last, finish[op]);
  }
  return last;
}

std::string left_out_of_model(const Problem& problem, Schedule schedule) {
  std::vector<std::string> out;
  if (std::ranges::any_of(problem.routes.items, [&](std::uint32_t c) { return problem.channels[c].contention; }))
    out.emplace_back("waiting for channels");
  if (std::ranges::any_of(problem.devices, [](const Device& device) { return device.memory != no_memory_limit; }))
    out.emplace_back("memory over time");
  if (schedule != Schedule::in_order)
    out.push_back(fmt::format("that the schedule {} chooses the order", name_of(schedule)));
  return join(out, " and ");
}

}  // namespace emplace::search
