#include "simulate/timeline/memory_timeline.hpp"

#include <algorithm>
#include <functional>

namespace emplace::simulate {

std::vector<Holding> holdings(const Problem& p, const Placement& placement, const Timeline& timeline) {
  std::vector<Holding> held;
  if (timeline.op_end.empty()) return held;
  const auto hold = [&](Holding::Kind kind, std::size_t id, DeviceId device, Ticks begin, Ticks end, Bytes bytes) {
    if (bytes > 0) held.push_back({kind, static_cast<std::uint32_t>(id), device, begin, end, bytes});
  };
  const auto device_of = [&](std::size_t op) { return DeviceId{placement.device[op]}; };
  const auto last_use = [&](std::size_t tensor, DeviceId device, Ticks at_least) {
    for (const std::uint32_t consumer : p.consumers[tensor])
      if (device_of(consumer) == device) at_least = std::max(at_least, timeline.op_end[consumer]);
    return at_least;
  };

  const Ticks makespan = std::ranges::max(timeline.op_end);
  for (std::size_t op = 0; op < p.op_count(); ++op) {
    hold(Holding::Kind::resident, op, device_of(op), 0, makespan, p.resident[op]);
    hold(Holding::Kind::scratch, op, device_of(op), timeline.op_start[op], timeline.op_end[op], p.scratch[op]);
  }
  std::vector<Ticks> sent(p.tensor_count(), 0);  // when the tensor's last send ended
  for (const Timeline::Transfer& transfer : timeline.transfers)
    sent[transfer.tensor.index()] = std::max(sent[transfer.tensor.index()], transfer.end);
  for (std::size_t t = 0; t < p.tensor_count(); ++t) {
    const std::size_t op = p.producer[t].index();
    const Ticks end = last_use(t, device_of(op), std::max(timeline.op_end[op], sent[t]));
    hold(Holding::Kind::output, t, device_of(op), timeline.op_start[op], end, p.tensor_bytes[t]);
  }
  for (const Timeline::Transfer& transfer : timeline.transfers)
    hold(Holding::Kind::copy, transfer.tensor.index(), transfer.to, transfer.start,
         last_use(transfer.tensor.index(), transfer.to, transfer.end), p.tensor_bytes[transfer.tensor.index()]);
  return held;
}

std::vector<DeviceMemory> memory_timeline(const Problem& problem, const std::vector<Holding>& held) {
  struct Change {
    Ticks time;
    Bytes bytes;
  };
  std::vector<std::vector<Change>> changes(problem.device_count());
  for (const Holding& holding : held) {
    changes[holding.device.index()].push_back({holding.begin, holding.bytes});
    changes[holding.device.index()].push_back({holding.end, -holding.bytes});
  }
  std::vector<DeviceMemory> memory(problem.device_count());
  for (std::size_t d = 0; d < memory.size(); ++d) {
    std::vector<DeviceMemory::Level>& levels = memory[d].levels;
    levels = {{0, 0}};
    std::ranges::sort(changes[d], {}, &Change::time);
    Bytes bytes = 0;
    for (std::size_t i = 0; i < changes[d].size();) {
      // Frees come before allocations (R5), so the bytes held after an instant are the most that were held at it.
      const Ticks time = changes[d][i].time;
      for (; i < changes[d].size() && changes[d][i].time == time; ++i) bytes += changes[d][i].bytes;
      if (time == levels.back().time)
        levels.back().bytes = bytes;
      else if (bytes != levels.back().bytes)
        levels.push_back({time, bytes});
    }
    const auto peak = std::ranges::max_element(levels, {}, &DeviceMemory::Level::bytes);
    memory[d].peak = peak->bytes;
    memory[d].peak_time = peak->time;
  }
  return memory;
}

std::vector<DeviceMemory::Level> thinned(const std::vector<DeviceMemory::Level>& levels, std::size_t limit) {
  if (levels.size() <= limit) return levels;
  std::vector<DeviceMemory::Level> kept;
  const double span = static_cast<double>(levels.back().time + 1);
  const auto stretch = [&](const DeviceMemory::Level& level) {
    return static_cast<std::size_t>(static_cast<double>(level.time) / span * static_cast<double>(limit - 1));
  };
  for (const DeviceMemory::Level& level : levels) {
    if (kept.empty() || stretch(level) != stretch(kept.back()))
      kept.push_back(level);
    else if (level.bytes > kept.back().bytes)
      kept.back() = level;
  }
  if (kept.back() != levels.back()) kept.push_back(levels.back());
  return kept;
}

std::vector<Holding> alive_at(const std::vector<Holding>& held, DeviceId device, Ticks time) {
  std::vector<Holding> alive;
  for (const Holding& holding : held)
    if (holding.device == device && holding.begin <= time && time < holding.end) alive.push_back(holding);
  std::ranges::stable_sort(alive, std::greater<>(), &Holding::bytes);
  return alive;
}

}  // namespace emplace::simulate
