// Everything on one device; ops that cannot run there go to their fastest device.
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/scorer.hpp"
#include "search/common/units.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct DeviceOptions {
  std::string name;
};

void describe(DeviceOptions& o, OptionVisitor& visit) {
  visit("name", o.name,
        {.help = "Name of the device; it can also be given in the placer's name, as in 'device:NAME'."});
}

Placement all_on(const Units& units, std::size_t device) {
  std::vector<std::uint8_t> of_unit(units.count());
  for (std::size_t unit = 0; unit < units.count(); ++unit) of_unit[unit] = units.device_or_fastest(unit, device);
  return units.grouping.expand(of_unit);
}

PlacerResult place_single(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Units units(*request.problem);
  Scorer scorer(request);
  for (std::size_t device = 0; device < units.devices && !scorer.exhausted(); ++device)
    scorer.score(all_on(units, device));
  return scorer.result();
}

PlacerResult place_device(const PlacerRequest& request, const ConfigTable& options) {
  const auto o = read_options<DeviceOptions>(options);
  std::vector<std::string> names;
  for (const Device& device : request.problem->devices) names.push_back(device.name);
  if (o.name.empty())
    throw InputError(options.place(), "the placer 'device' needs a name, as in 'device:{}'", names.front());
  for (std::size_t device = 0; device < names.size(); ++device) {
    if (names[device] != o.name) continue;
    Scorer scorer(request);
    scorer.score(all_on(Units(*request.problem), device));
    return scorer.result();
  }
  const std::string near = did_you_mean(o.name, names);
  throw InputError(options.place(), "unknown device {}{}", quote(o.name),
                   near.empty() ? "; there are: " + join(names, ", ") : near);
}

}  // namespace

PlacerEntry single_placer() {
  PlacerEntry entry;
  entry.name = "single";
  entry.summary = "Everything on the best single device.";
  entry.options = list_options<NoOptions>;
  entry.place = place_single;
  return entry;
}

PlacerEntry device_placer() {
  PlacerEntry entry;
  entry.name = "device";
  entry.summary = "Everything on the device called NAME in 'device:NAME'.";
  entry.role = PlacerRole::other;
  entry.options = list_options<DeviceOptions>;
  entry.place = place_device;
  return entry;
}

}  // namespace emplace::search
