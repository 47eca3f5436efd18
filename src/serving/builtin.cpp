#include "base/text.hpp"
#include "serving/methods.hpp"

namespace emplace::serving {

std::span<const PlacerEntry> placers() {
  static const std::vector<PlacerEntry> list{
      equal_split_placer(), petals_placer(),    swarm_placer(), separate_pipelines_placer(),
      stages_placer(),      intervals_placer(), exact_placer(), best_placer()};
  return list;
}

Result place_with(const std::string& method, const Request& request, const ConfigTable& options) {
  const PlacerEntry& entry = find_entry(placers(), method, "placer of serving problems", "command line");
  if (request.seconds && !(*request.seconds > 0))
    throw InputError("--seconds", "a budget must be above zero, found {}", *request.seconds);
  if (request.evaluations && *request.evaluations == 0)
    throw InputError("--evaluations", "a budget must be above zero, found 0");
  return entry.place(request, options);
}

Result evaluated(const Cluster& cluster, Layout layout) {
  Result result;
  result.throughput = FlowEvaluator(cluster).throughput(layout);
  result.layout = std::move(layout);
  result.evaluations = 1;
  return result;
}

}  // namespace emplace::serving
