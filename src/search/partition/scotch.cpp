// Scotch, either as the papers' baselines use it (knows = "graph"), or with the costs of ops and the distances between
// devices: on all devices (`scotch`), and on all but the CPUs (`mincut`, Mirhoseini et al. 2017).
#include "search/common/predicted_time.hpp"
#include "search/methods.hpp"
#include "search/partition/partition.hpp"
#include "search/partition/scotch_map.hpp"

namespace emplace::search {

namespace {

// The first is Scotch's own default. With larger ones it can keep more units together.
constexpr double scotch_imbalances[] = {0.01, 0.1, 0.4, 1.5};

std::vector<std::uint32_t> map_units(const Units&, const UnitGraph& graph, const Processors& processors,
                                     double imbalance, std::uint64_t seed) {
  return scotch_map(graph, processors, imbalance, seed);
}

PlacerResult place_scotch(const PlacerRequest& request, const ConfigTable& options) {
  return place_by_partition(request, read_options<PartitionOptions>(options), every_device(*request.problem),
                            scotch_imbalances, map_units);
}

PlacerResult place_mincut(const PlacerRequest& request, const ConfigTable& options) {
  return place_by_partition(request, read_options<PartitionOptions>(options), accelerators(*request.problem),
                            scotch_imbalances, map_units);
}

}  // namespace

PlacerEntry scotch_placer() {
  PlacerEntry entry;
  entry.name = "scotch";
  entry.summary = "Scotch maps the graph onto the devices, weighted by their speed and by the costs of transfers.";
  entry.reference = "Pellegrini and Roman 1996; Mirhoseini et al. 2017";
  entry.options = list_options<PartitionOptions>;
  entry.unfit = [](const PlacerRequest& request) { return why_too_long("scotch", request); };
  entry.place = place_scotch;
  return entry;
}

PlacerEntry mincut_placer() {
  PlacerEntry entry;
  entry.name = "mincut";
  entry.summary = "Scotch on the accelerators only; ops that none of them can run go to another device.";
  entry.reference = "Pellegrini and Roman 1996; Mirhoseini et al. 2017";
  entry.options = list_options<PartitionOptions>;
  entry.unfit = [](const PlacerRequest& request) { return why_too_long("mincut", request); };
  entry.place = place_mincut;
  return entry;
}

}  // namespace emplace::search
