#include <algorithm>

#include "report/page.hpp"
#include "report/placement_json.hpp"

namespace emplace::report {

Json memory_json(const Problem& problem, const Explanation& explanation, const PlacementLimits& limits) {
  if (!explanation.outcome.timed()) return nullptr;
  const std::size_t most = std::clamp<std::size_t>(limits.levels / problem.device_count(), 60, 2000);
  Json rows = Json::array();
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    const simulate::DeviceMemory& memory = explanation.memory[d];
    const PeakMemory& peak = explanation.at_peak[d];
    Json times = Json::array(), bytes = Json::array();
    for (const simulate::DeviceMemory::Level& level : simulate::thinned(memory.levels, most)) {
      times.push_back(level.time);
      bytes.push_back(level.bytes);
    }
    const Bytes limit = problem.devices[d].memory;
    rows.push_back({{"device", d},
                    {"capacity", limit == no_memory_limit ? Json() : Json(limit)},
                    {"peak", memory.peak},
                    {"peak_at", memory.peak_time},
                    {"resident", peak.resident},
                    {"outputs", peak.outputs},
                    {"copies", peak.copies},
                    {"scratch", peak.scratch},
                    {"thinned", times.size() < memory.levels.size()},
                    {"times", std::move(times)},
                    {"bytes", std::move(bytes)}});
  }
  return rows;
}

}  // namespace emplace::report
