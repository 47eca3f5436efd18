// OpenVINO's choice of a device, which does not depend on costs. AUTO: the whole model goes to the first device that
// can run it and has enough memory for it, in the order discrete GPU, integrated GPU, NPU, others, CPU, and as listed
// within a kind. HETERO, if no device can run everything: each op goes to the first of them that can run it. (OpenVINO
// 2023.3, "Automatic Device Selection" and "Heterogeneous Execution": the runtime of Duan et al. 2024.)
#include <algorithm>
#include <numeric>

#include "emplace/search/scorer.hpp"
#include "search/common/units.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

std::vector<std::uint8_t> by_priority(const Problem& problem) {
  const auto rank = [&](std::uint8_t d) {
    const std::string& kind = problem.devices[d].kind;
    return kind == "gpu" ? 0 : kind == "igpu" ? 1 : kind == "npu" ? 2 : kind == "cpu" ? 4 : 3;
  };
  std::vector<std::uint8_t> devices(problem.device_count());
  std::iota(devices.begin(), devices.end(), std::uint8_t{0});
  std::ranges::stable_sort(devices, {}, rank);
  return devices;
}

PlacerResult place_auto(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Units units(*request.problem);
  const std::vector<std::uint8_t> devices = by_priority(*request.problem);
  Scorer scorer(request);
  for (const std::uint8_t device : devices) {
    bool takes_all = true;
    for (std::size_t unit = 0; unit < units.count(); ++unit)
      takes_all = takes_all && units.grouping.allows(unit, device);
    if (!takes_all || scorer.exhausted()) continue;
    scorer.score(units.grouping.expand(std::vector<std::uint8_t>(units.count(), device)));
    if (scorer.best().outcome.feasible()) return scorer.result();
  }
  if (scorer.evaluations() > 0) return scorer.result();
  std::vector<std::uint8_t> of_unit;
  for (std::size_t unit = 0; unit < units.count(); ++unit)
    of_unit.push_back(*std::ranges::find_if(devices, [&](std::uint8_t d) { return units.grouping.allows(unit, d); }));
  scorer.score(units.grouping.expand(of_unit));
  return scorer.result();
}

}  // namespace

PlacerEntry auto_placer() {
  PlacerEntry entry;
  entry.name = "auto";
  entry.summary =
      "As OpenVINO: the first of GPU, integrated GPU, NPU and CPU that can run the whole model, else op by op.";
  entry.reference = "OpenVINO 2023.3; Duan et al. 2024";
  entry.options = list_options<NoOptions>;
  entry.place = place_auto;
  return entry;
}

}  // namespace emplace::search
