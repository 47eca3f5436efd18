// Assigns units in topological order to the devices in turn, skipping devices that cannot run them.
#include "emplace/search/scorer.hpp"
#include "search/common/units.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

PlacerResult place_round_robin(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Units units(*request.problem);
  std::vector<std::uint8_t> of_unit(units.count());
  std::size_t turn = 0;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    while (!units.grouping.allows(unit, turn)) turn = (turn + 1) % units.devices;
    of_unit[unit] = static_cast<std::uint8_t>(turn);
    turn = (turn + 1) % units.devices;
  }
  Scorer scorer(request);
  scorer.score(units.grouping.expand(of_unit));
  return scorer.result();
}

}  // namespace

PlacerEntry round_robin_placer() {
  PlacerEntry entry;
  entry.name = "round-robin";
  entry.summary = "Units in topological order, assigned to the devices in turn.";
  entry.options = list_options<NoOptions>;
  entry.place = place_round_robin;
  return entry;
}

}  // namespace emplace::search
