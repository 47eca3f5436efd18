// The program `emplace` with one more placer, `lightest`: the units from the longest to the shortest, each to the
// device that has least to do when it has taken the unit (Graham 1969).
// Usage: write_a_placer place lightest PROBLEM, and every other command of emplace
#include <algorithm>
#include <emplace/emplace.hpp>
#include <numeric>

namespace {

using namespace emplace;

struct LightestOptions {
  bool longest_first = true;
};
void describe(LightestOptions& options, OptionVisitor& visit) {
  visit("longest_first", options.longest_first, {.help = "Take long units first; false: in topological order."});
}

// The time of a unit's ops on a device, in ticks.
Ticks work(const Problem& problem, const Grouping& units, std::size_t unit, std::size_t device) {
  Ticks sum = 0;
  for (const std::uint32_t op : units.members[unit]) sum += problem.time(OpId{op}, DeviceId{device});
  return sum;
}

search::PlacerResult place(const search::PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<LightestOptions>(table);
  const Problem& problem = *request.problem;
  const Grouping units = make_grouping(problem, GroupingKind::colocation);  // ops that must share a device
  const std::size_t devices = problem.device_count();
  const auto shortest = [&](std::size_t unit) {
    Ticks least = total_limit;
    for (std::size_t d = 0; d < devices; ++d)
      if (units.allows(unit, d)) least = std::min(least, work(problem, units, unit, d));
    return least;
  };
  std::vector<std::size_t> order(units.count());
  std::iota(order.begin(), order.end(), 0);
  if (options.longest_first) std::ranges::stable_sort(order, std::ranges::greater(), shortest);

  std::vector<Ticks> busy(devices, 0);
  std::vector<std::uint8_t> device_of_unit(units.count());
  for (const std::size_t unit : order) {
    Ticks earliest = total_limit;
    for (std::size_t d = 0; d < devices; ++d) {
      if (!units.allows(unit, d) || busy[d] + work(problem, units, unit, d) >= earliest) continue;
      earliest = busy[d] + work(problem, units, unit, d);
      device_of_unit[unit] = static_cast<std::uint8_t>(d);
    }
    busy[device_of_unit[unit]] = earliest;
  }
  search::Scorer scorer(request);  // evaluates within the request's budget and keeps the best
  scorer.score(units.expand(device_of_unit));
  return scorer.result();
}

}  // namespace

int main(int argc, char** argv) {
  search::PlacerEntry lightest;
  lightest.name = "lightest";
  lightest.summary = "Each unit to the device that has least to do, the longest unit first.";
  lightest.reference = "Graham 1969";
  lightest.options = list_options<LightestOptions>;
  lightest.place = place;
  search::register_placer(lightest);
  return app::run_program(argc, argv);
}
