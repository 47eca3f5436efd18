#include "search/pipeline/device_kinds.hpp"
#include "simulate/pipeline/pipeline.hpp"

#include <algorithm>

namespace emplace::search {

namespace {

bool equal_times(const Problem& p, std::size_t a, std::size_t b) {
  for (std::size_t op = 0; op < p.op_count(); ++op)
    if (p.op_time[op * p.device_count() + a] != p.op_time[op * p.device_count() + b]) return false;
  return true;
}

}  // namespace

std::vector<DeviceKind> device_kinds(const Problem& problem) {
  std::vector<DeviceKind> kinds;
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    simulate::HostTransfers transfers = simulate::host_transfers(problem, DeviceId{d});
    const auto kind = std::ranges::find_if(kinds, [&](const DeviceKind& known) {
      return known.memory == problem.devices[d].memory && known.transfers == transfers &&
             equal_times(problem, known.devices.front(), d);
    });
    if (kind != kinds.end())
      kind->devices.push_back(static_cast<std::uint8_t>(d));
    else
      kinds.push_back({{static_cast<std::uint8_t>(d)}, std::move(transfers), problem.devices[d].memory});
  }
  return kinds;
}

}  // namespace emplace::search
