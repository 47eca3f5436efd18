#include "report/over_time.hpp"

#include <algorithm>
#include <cmath>

namespace emplace::report {

namespace {

// Calls visit(stretch, share of the stretch that [start, end) covers) for each stretch. Doubles are exact enough for a
// picture.
template <class Visit>
void visit_stretches(Ticks start, Ticks end, Ticks makespan, std::size_t count, Visit&& visit) {
  const double scale = static_cast<double>(count) / static_cast<double>(makespan);
  const double from = static_cast<double>(start) * scale;
  const double to = std::min(static_cast<double>(end) * scale, static_cast<double>(count));
  for (auto i = static_cast<std::size_t>(from); i < count && static_cast<double>(i) < to; ++i)
    visit(i, std::min(to, static_cast<double>(i + 1)) - std::max(from, static_cast<double>(i)));
}

}  // namespace

std::string bars(const std::vector<double>& values) {
  constexpr const char* heights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr int highest = static_cast<int>(std::size(heights)) - 1;
  std::string text;
  for (const double value : values)
    text += value <= 0 ? "." : heights[std::clamp(static_cast<int>(std::ceil(value * (highest + 1))) - 1, 0, highest)];
  return text;
}

std::vector<double> busy_over_time(const Placement& placement, const simulate::Timeline& timeline, DeviceId device,
                                   Ticks makespan, std::size_t count) {
  std::vector<double> busy(count);
  for (std::size_t op = 0; op < timeline.op_end.size(); ++op)
    if (placement.device[op] == device.index())
      visit_stretches(timeline.op_start[op], timeline.op_end[op], makespan, count,
                      [&](std::size_t i, double share) { busy[i] += share; });
  for (double& share : busy)
    if (share < 1e-9) share = 0;
  return busy;
}

std::vector<double> memory_over_time(const simulate::DeviceMemory& memory, Ticks makespan, std::size_t count) {
  std::vector<double> level(count);
  if (memory.peak == 0) return level;
  for (std::size_t i = 0; i < memory.levels.size(); ++i) {
    const Ticks until = i + 1 < memory.levels.size() ? memory.levels[i + 1].time : makespan;
    const double height = static_cast<double>(memory.levels[i].bytes) / static_cast<double>(memory.peak);
    visit_stretches(memory.levels[i].time, until, makespan, count,
                    [&](std::size_t stretch, double) { level[stretch] = std::max(level[stretch], height); });
  }
  return level;
}

}  // namespace emplace::report
