// Everything on the first CPU, as in the first column of the papers' tables.
#include "emplace/search/scorer.hpp"
#include "search/common/units.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

std::optional<std::size_t> first_cpu(const Problem& problem) {
  for (std::size_t d = 0; d < problem.device_count(); ++d)
    if (problem.devices[d].kind == "cpu") return d;
  return std::nullopt;
}

PlacerResult place_cpu_only(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Units units(*request.problem);
  const std::size_t cpu = first_cpu(*request.problem).value();
  std::vector<std::uint8_t> of_unit;
  for (std::size_t unit = 0; unit < units.count(); ++unit) of_unit.push_back(units.device_or_fastest(unit, cpu));
  Scorer scorer(request);
  scorer.score(units.grouping.expand(of_unit));
  return scorer.result();
}

}  // namespace

PlacerEntry cpu_only_placer() {
  PlacerEntry entry;
  entry.name = "cpu-only";
  entry.summary = "Everything on the first device of kind 'cpu'; ops that it cannot run, on their fastest device.";
  entry.options = list_options<NoOptions>;
  entry.unfit = [](const PlacerRequest& request) {
    return first_cpu(*request.problem) ? "" : "the problem has no device of kind 'cpu'";
  };
  entry.place = place_cpu_only;
  return entry;
}

}  // namespace emplace::search
