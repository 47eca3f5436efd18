#include "network.hpp"

namespace emplace {

Network::Network(const Problem& problem)
    : devices(problem.device_count()), complete(true), private_pairs(true), any_deferred(false) {
  const std::size_t pairs = devices * devices;
  deferred.assign(pairs, 0);
  column.assign(pairs, 0);
  constexpr std::uint32_t none = DeviceId::none_value;
  std::vector<std::uint32_t> source(problem.channels.size(), none);
  std::vector<std::uint32_t> routes_served(problem.channels.size(), 0);
  std::vector<char> waits_for_others(problem.channels.size(), 0);  // deferred, channel by channel
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const auto from = static_cast<std::uint32_t>(pair / devices);
    const auto route = problem.routes[pair];
    if (route.empty() && from != pair % devices) complete = false;
    if (!route.empty()) column[pair] = 1 + static_cast<std::uint32_t>(problem.route_class[pair]);
    for (const std::uint32_t channel : route) {
      if (!problem.channels[channel].contention) continue;
      contended.items.push_back(channel);
      if (++routes_served[channel] > 1) private_pairs = false;
      if (source[channel] != none && source[channel] != from) waits_for_others[channel] = 1;
      source[channel] = from;
    }
    contended.begin.push_back(static_cast<std::uint32_t>(contended.items.size()));
  }
  // A route over one deferred channel is deferred, and then all its other channels are too, and the routes over those:
  // a channel's line has one order.
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
}

}  // namespace emplace
