#include "app/inspect_machine.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "app/result_json.hpp"
#include "base/text.hpp"

namespace emplace::app {

namespace {

// Bandwidths are printed as data sheets give them: a GB is 10^9 bytes.
std::string gigabytes_per_s(double bytes_per_s) { return fmt::format("{:.4g} GB/s", 1e-9 * bytes_per_s); }

// A route's figures: the latencies of its channels add up, the smallest bandwidth counts.
struct PairFigures {
  double bytes_per_s = std::numeric_limits<double>::infinity(), latency_s = 0;
};

PairFigures figures_of(const machine::Machine& machine, const machine::MachineRoute& route) {
  PairFigures figures;
  for (const std::size_t channel : route.channels) {
    figures.bytes_per_s = std::min(figures.bytes_per_s, machine.channels[channel].bytes_per_s);
    figures.latency_s += machine.channels[channel].latency_s;
  }
  return figures;
}

// Ordered pairs of devices without a route.
std::vector<std::pair<std::size_t, std::size_t>> missing_routes(const machine::Machine& machine) {
  const std::size_t devices = machine.devices.size();
  std::vector<bool> joined(devices * devices);
  for (const machine::MachineRoute& route : machine.routes) joined[route.from * devices + route.to] = true;
  std::vector<std::pair<std::size_t, std::size_t>> missing;
  for (std::size_t from = 0; from < devices; ++from)
    for (std::size_t to = 0; to < devices; ++to)
      if (from != to && !joined[from * devices + to]) missing.emplace_back(from, to);
  return missing;
}

void print_devices(const machine::Machine& machine) {
  TextTable table({"device", "kind", "memory", "f32 peak", "memory bandwidth", "launch"});
  for (const machine::MachineDevice& device : machine.devices) {
    const auto peak = device.peak_flops.find("f32");
    table.add({device.name, device.kind, device.memory_limited ? human_bytes(device.memory_bytes) : "no limit",
               peak == device.peak_flops.end() ? "-" : human_count(peak->second) + "FLOP/s",
               gigabytes_per_s(device.memory_bytes_per_s), human_seconds(device.launch_overhead_s)});
  }
  fmt::print("{}\n", table.str());
}

void print_channels(const machine::Machine& machine) {
  constexpr std::size_t shown = 40;
  TextTable table({"channel", "bandwidth", "latency", "transfers"});
  for (std::size_t c = 0; c < std::min(machine.channels.size(), shown); ++c) {
    const machine::MachineChannel& channel = machine.channels[c];
    table.add({channel.name, gigabytes_per_s(channel.bytes_per_s), human_seconds(channel.latency_s),
               channel.contention ? "one at a time" : "never wait"});
  }
  if (!machine.channels.empty()) fmt::print("{}", table.str());
  if (machine.channels.size() > shown) fmt::print("and {} more channels\n", machine.channels.size() - shown);
  fmt::print("{} channels, {} routes\n", machine.channels.size(), machine.routes.size());
}

// One line for each ordered pair of devices; of many, one for all pairs of equal kinds and equal figures.
void print_pairs_of_devices(const machine::Machine& machine) {
  constexpr std::size_t shown = 60;
  TextTable table({"from", "to", "bandwidth", "latency", "pairs"});
  std::map<std::tuple<std::string, std::string, double, double>, std::size_t> rows;
  const bool each = machine.routes.size() <= shown;
  for (const machine::MachineRoute& route : machine.routes) {
    const PairFigures figures = figures_of(machine, route);
    const machine::MachineDevice &from = machine.devices[route.from], &to = machine.devices[route.to];
    if (each)
      table.add({from.name, to.name, gigabytes_per_s(figures.bytes_per_s), human_seconds(figures.latency_s), "1"});
    else
      ++rows[{from.kind, to.kind, figures.bytes_per_s, figures.latency_s}];
  }
  std::size_t lines = 0;
  for (const auto& [row, pairs] : rows) {
    const auto& [from, to, bytes_per_s, latency_s] = row;
    if (++lines <= shown)
      table.add(
          {"every " + from, to, gigabytes_per_s(bytes_per_s), human_seconds(latency_s), fmt::format("{}", pairs)});
  }
  if (!machine.routes.empty()) fmt::print("\n{}", table.str());
  if (lines > shown) fmt::print("and {} more kinds of pairs\n", lines - shown);
}

void print_missing_routes(const machine::Machine& machine) {
  constexpr std::size_t shown = 10;
  const auto missing = missing_routes(machine);
  if (missing.empty()) {
    if (machine.devices.size() > 1) fmt::print("\nevery pair of devices has a route\n");
    return;
  }
  std::vector<std::string> names;
  for (const auto& [from, to] : missing)
    if (names.size() < shown) names.push_back(machine.devices[from].name + " -> " + machine.devices[to].name);
  fmt::print("\nno route, so no tensor can go: {}{}\n", join(names, ", "),
             missing.size() > shown ? fmt::format(" and {} more pairs", missing.size() - shown) : "");
}

Json machine_json(const machine::Machine& machine) {
  Json channels = Json::array(), pairs = Json::array(), missing = Json::array();
  for (const machine::MachineChannel& channel : machine.channels) channels.push_back(channel.name);
  for (const machine::MachineRoute& route : machine.routes) {
    const PairFigures figures = figures_of(machine, route);
    pairs.push_back({{"from", machine.devices[route.from].name},
                     {"to", machine.devices[route.to].name},
                     {"bytes_per_s", figures.bytes_per_s},
                     {"latency_s", figures.latency_s}});
  }
  for (const auto& [from, to] : missing_routes(machine))
    missing.push_back({{"from", machine.devices[from].name}, {"to", machine.devices[to].name}});
  return {{"kind", "machine"},
          {"name", machine.name},
          {"devices", machine.devices.size()},
          {"channels", machine.channels.size()},
          {"routes", machine.routes.size()},
          {"channel_names", channels},
          {"pairs", pairs},
          {"missing_routes", missing}};
}

}  // namespace

void inspect_machine(const machine::Machine& machine, bool json) {
  if (json) {
    print_json(machine_json(machine));
    return;
  }
  fmt::print("machine {}\n\n", quote(machine.name));
  print_devices(machine);
  print_channels(machine);
  print_pairs_of_devices(machine);
  print_missing_routes(machine);
}

}  // namespace emplace::app
