#include "simulate/batch/scalar.hpp"

#include <algorithm>

#include "emplace/problem/outcome.hpp"

namespace emplace::simulate {

namespace {
constexpr Ticks not_wanted = -2;
constexpr Ticks wanted = -1;
}  // namespace

BatchScalar::BatchScalar(const Problem& problem, const Network& network, std::span<const std::uint32_t> order)
    : problem_(problem),
      network_(network),
      order_(order.begin(), order.end()),
      ready_(problem.op_count()),
      device_free_(problem.device_count()),
      channel_free_(problem.channels.size()),
      arrival_(problem.device_count()) {}

Ticks BatchScalar::makespan(const std::uint8_t* device) {
  const Problem& p = problem_;
  std::fill(ready_.begin(), ready_.end(), 0);
  std::fill(device_free_.begin(), device_free_.end(), 0);
  std::fill(channel_free_.begin(), channel_free_.end(), 0);
  for (const std::uint32_t op : order_) {
    const DeviceId here{device[op]};
    const Ticks time = p.time(OpId{op}, here);
    if (time == cannot_run) return Outcome::unknown;
    const Ticks end = device_free_[here.index()] = std::max(ready_[op], device_free_[here.index()]) + time;
    for (const std::uint32_t tensor : p.outputs[op]) {
      std::fill(arrival_.begin(), arrival_.end(), not_wanted);
      for (const std::uint32_t consumer : p.consumers[tensor]) arrival_[device[consumer]] = wanted;
      arrival_[here.index()] = end;
      // This is the order (request, tensor, destination) of R3, because the walk visits the ops of a device in the
      // order in which they end, and a channel carries only what one device sends.
      for (std::size_t to = 0; to < arrival_.size(); ++to) {
        if (arrival_[to] != wanted) continue;
        if (!p.has_route(here, DeviceId{to})) return Outcome::unknown;
        const auto line = network_.contended[here.index() * arrival_.size() + to];
        Ticks start = end;
        for (const std::uint32_t channel : line) start = std::max(start, channel_free_[channel]);
        arrival_[to] = start + p.transfer(TensorId{tensor}, here, DeviceId{to});
        for (const std::uint32_t channel : line) channel_free_[channel] = arrival_[to];
      }
      for (const std::uint32_t consumer : p.consumers[tensor])
        ready_[consumer] = std::max(ready_[consumer], arrival_[device[consumer]]);
    }
  }
  return *std::max_element(device_free_.begin(), device_free_.end());
}

}  // namespace emplace::simulate
