// Everything on one device; ops that cannot run there go to their fastest device.
#include <algorithm>
#include <numeric>

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

// The devices by the time of all ops that they can run, those that cannot run some op last: with many devices and
// little time, the best one is among the first.
std::vector<std::size_t> by_total_time(const Problem& problem) {
  std::vector<std::pair<std::size_t, Ticks>> total(
      problem.device_count());  // ops that it cannot run, time of the others
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    for (std::size_t d = 0; d < total.size(); ++d) {
      const Ticks time = problem.time(OpId{op}, DeviceId{d});
      if (time == cannot_run)
        ++total[d].first;
      else
        total[d].second += time;
    }
  std::vector<std::size_t> devices(total.size());
  std::iota(devices.begin(), devices.end(), std::size_t{0});
  std::ranges::stable_sort(devices, {}, [&](std::size_t d) { return total[d]; });
  return devices;
}

// D: the first device on which everything gives the same outcome, because both can run every op, in the same times, and
// have the same memory; else the device itself.
std::vector<std::size_t> equal_devices(const Problem& problem) {
  const std::size_t devices = problem.device_count();
  std::vector<std::uint8_t> runs_all(devices, 1);
  for (std::size_t row = 0; row < problem.op_time.size(); row += devices)
    for (std::size_t d = 0; d < devices; ++d)
      if (problem.op_time[row + d] == cannot_run) runs_all[d] = 0;
  std::vector<std::size_t> equal = first_equal_column(problem.op_time, devices);
  for (std::size_t d = 0; d < devices; ++d)
    if (runs_all[d] == 0 || problem.devices[d].memory != problem.devices[equal[d]].memory) equal[d] = d;
  return equal;
}

PlacerResult place_single(const PlacerRequest& request, const ConfigTable& options) {
  read_options<NoOptions>(options);
  const Problem& problem = *request.problem;
  const Units units(problem);
  Scorer scorer(request);
  // With only a budget of seconds, one of several equal devices is enough.
  const bool is_timed = request.seconds && !request.evaluations;
  const std::vector<std::size_t> equal = is_timed ? equal_devices(problem) : std::vector<std::size_t>{};
  std::vector<std::uint8_t> tried(problem.device_count(), 0);
  for (const std::size_t device : by_total_time(problem)) {
    if (scorer.exhausted()) break;
    if (is_timed && tried[equal[device]]++ > 0) continue;
    scorer.score(all_on(units, device));
  }
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
