#include "search/common/units.hpp"

#include <algorithm>

namespace emplace::search {

Units::Units(const Problem& problem)
    : grouping(make_grouping(problem, GroupingKind::colocation)), devices(problem.device_count()) {
  time.assign(count() * devices, 0);
  resident.assign(count(), 0);
  outputs.assign(count(), 0);
  std::vector<Bytes> scratch(count(), 0);
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    const std::size_t unit = grouping.unit_of_op[op];
    resident[unit] += problem.resident[op];
    scratch[unit] = std::max(scratch[unit], problem.scratch[op]);
    for (const std::uint32_t tensor : problem.outputs[op]) outputs[unit] += problem.tensor_bytes[tensor];
    Ticks* const sum = time.data() + unit * devices;  // of no meaning where a member cannot run
    const Ticks* const op_time = problem.op_time.data() + op * devices;
    for (std::size_t d = 0; d < devices; ++d) sum[d] += op_time[d];
  }
  for (std::size_t unit = 0; unit < count(); ++unit) {
    resident[unit] += scratch[unit];
    std::size_t best = devices;
    Ticks* const row = time.data() + unit * devices;
    const std::uint8_t* const allowed = grouping.allowed.data() + unit * devices;
    for (std::size_t d = 0; d < devices; ++d) {
      if (allowed[d] == 0)
        row[d] = cannot_run;
      else if (best == devices || row[d] < row[best])
        best = d;
    }
    fastest.push_back(static_cast<std::uint8_t>(best));
  }
}

Bytes Units::memory(std::size_t unit, MemoryView view) const {
  switch (view) {
    case MemoryView::none: return 0;
    case MemoryView::resident: return resident[unit];
    case MemoryView::outputs: return resident[unit] + outputs[unit];
  }
  return 0;
}

Placement Units::runnable(std::span<const std::uint8_t> wanted) const {
  std::vector<std::uint8_t> device;
  for (std::size_t unit = 0; unit < count(); ++unit)
    device.push_back(device_or_fastest(unit, wanted[grouping.members[unit].front()]));
  return grouping.expand(device);
}

Ticks longest_compute(const Problem& problem) {
  Ticks sum = 0;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    Ticks longest = 0;
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      longest = std::max(longest, problem.time(OpId{op}, DeviceId{d}));
    sum += longest;
  }
  return sum;
}

std::vector<std::size_t> first_equal_column(std::span<const Ticks> table, std::size_t devices) {
  std::vector<std::size_t> first(devices, 0);
  for (std::size_t row = 0; row < table.size(); row += devices) {
    const Ticks* const time = table.data() + row;
    bool agree = true;
    for (std::size_t d = 0; d < devices; ++d) agree = agree && time[d] == time[first[d]];
    if (agree) continue;  // at most `devices` rows do not
    const std::vector<std::size_t> before = first;
    for (std::size_t d = 0; d < devices; ++d) {
      first[d] = 0;
      while (before[first[d]] != before[d] || time[first[d]] != time[d]) ++first[d];
    }
  }
  return first;
}

std::vector<std::vector<std::uint8_t>> device_choices(const Grouping& grouping) {
  std::vector<std::vector<std::uint8_t>> choices(grouping.count());
  for (std::size_t unit = 0; unit < grouping.count(); ++unit)
    for (std::size_t d = 0; d < grouping.device_count(); ++d)
      if (grouping.allows(unit, d)) choices[unit].push_back(static_cast<std::uint8_t>(d));
  return choices;
}

std::vector<std::uint8_t> accelerators(const Problem& problem) {
  std::vector<std::uint8_t> mask;
  for (const Device& device : problem.devices) mask.push_back(device.kind == "cpu" ? 0 : 1);
  if (std::count(mask.begin(), mask.end(), 1) == 0) mask.assign(mask.size(), 1);
  return mask;
}

}  // namespace emplace::search
