#include "simulate/exact/network.hpp"

namespace emplace::simulate {

Network::Network(const Problem& problem) : devices(problem.device_count()), complete(true), any_deferred(false) {
  const std::size_t pairs = devices * devices;
  deferred.assign(pairs, 0);
  column.assign(pairs, 0);
  constexpr std::uint32_t none = DeviceId::none_value;
  std::vector<std::uint32_t> source(problem.channels.size(), none);
  std::vector<char> waits_for_others(problem.channels.size(), 0);  // C: 1 if routes over the channel are deferred
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const auto from = static_cast<std::uint32_t>(pair / devices);
    const auto route = problem.routes[pair];
    if (route.empty() && from != pair % devices) complete = false;
    if (!route.empty()) column[pair] = 1 + static_cast<std::uint32_t>(problem.route_class[pair]);
    for (const std::uint32_t channel : route) {
      if (!problem.channels[channel].contention) continue;
      contended.items.push_back(channel);
      if (source[channel] != none && source[channel] != from) waits_for_others[channel] = 1;
      source[channel] = from;
    }
    contended.begin.push_back(static_cast<std::uint32_t>(contended.items.size()));
  }
  // If one channel of a route is deferred, then so are the route, its other channels, and the routes over those: all
  // transfers over a channel must be handled in one order.
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      bool defer = false;
      for (const std::uint32_t channel : contended[pair]) defer |= waits_for_others[channel] != 0;
      if (!defer || deferred[pair]) continue;
      deferred[pair] = 1;
      any_deferred = changed = true;
      for (const std::uint32_t channel : contended[pair]) waits_for_others[channel] = 1;
    }
  }
  find_lines(problem.channels.size());
}

// A channel that is only used together with a second one is never free later than that one, so no transfer waits for
// it. The line of a route is the channel of the route that most routes share, the first of several.
void Network::find_lines(std::size_t channels) {
  std::vector<std::uint32_t> routes_over(channels, 0);
  for (const std::uint32_t channel : contended.items) ++routes_over[channel];
  line.assign(devices * devices, -1);
  std::vector<std::uint32_t> routes_waiting(channels, 0);
  one_line = private_pairs = !any_deferred;
  for (std::size_t pair = 0; pair < line.size(); ++pair) {
    std::int32_t& shared = line[pair];
    for (const std::uint32_t channel : contended[pair])
      if (shared < 0 || routes_over[channel] > routes_over[static_cast<std::size_t>(shared)] ||
          (routes_over[channel] == routes_over[static_cast<std::size_t>(shared)] &&
           channel < static_cast<std::uint32_t>(shared)))
        shared = static_cast<std::int32_t>(channel);
    if (shared >= 0 && ++routes_waiting[static_cast<std::size_t>(shared)] > 1) private_pairs = false;
  }
  // A route's other channels need no free time if all routes over them have the same line.
  std::vector<std::int32_t> line_beside(channels, -1);
  for (std::size_t pair = 0; pair < line.size(); ++pair)
    for (const std::uint32_t channel : contended[pair]) {
      if (line_beside[channel] < 0) line_beside[channel] = line[pair];
      if (line_beside[channel] != line[pair]) one_line = private_pairs = false;
    }
}

}  // namespace emplace::simulate
