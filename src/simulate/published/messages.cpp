// S1: which transfers a placement needs.
#include <algorithm>
#include <tuple>

#include "emplace/base/error.hpp"
#include "simulate/published/run.hpp"

namespace emplace::simulate::published {

namespace {

// Whether two consumers, adjacent in the order (device, id), get separate messages.
template <FanOut fan_out>
bool apart(std::uint8_t device, std::uint8_t next) {
  return fan_out == FanOut::edge || (fan_out == FanOut::dest && device != next);
}

// A message to several destinations occupies the lanes of all of them, for the longest of their times.
void add_way(const SwitchedProblem& p, std::size_t column, std::size_t pair, MessagePlan& traffic) {
  Message& message = traffic.messages.back();
  const std::size_t row = message.tensor * p.columns + column;
  message.travel = std::max(message.travel, p.travel[row]);
  message.hold = std::max(message.hold, p.hold[row]);
  for (const std::uint32_t lane : p.lanes[pair])
    if (std::find(traffic.lanes.begin() + message.lane_begin, traffic.lanes.end(), lane) == traffic.lanes.end())
      traffic.lanes.push_back(lane);
  message.lane_end = static_cast<std::uint32_t>(traffic.lanes.size());
}

template <FanOut fan_out>
std::optional<MissingRoute> plan(const SwitchedProblem& p, const std::vector<std::uint8_t>& device,
                                 MessagePlan& traffic) {
  traffic.messages.clear();
  traffic.consumers.clear();
  traffic.lanes.clear();
  traffic.local.clear();
  traffic.message_begin.assign(1, 0);
  traffic.local_begin.assign(1, 0);
  for (std::uint32_t tensor = 0; tensor < p.problem.tensor_count(); ++tensor) {
    const std::uint8_t from = device[p.problem.producer[tensor].index()];
    const auto first = static_cast<std::ptrdiff_t>(traffic.consumers.size());
    for (const std::uint32_t consumer : p.sent[tensor])
      (device[consumer] == from ? traffic.local : traffic.consumers).push_back(consumer);
    std::sort(traffic.consumers.begin() + first, traffic.consumers.end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::tuple(device[a], a) < std::tuple(device[b], b); });
    for (auto i = static_cast<std::uint32_t>(first); i < traffic.consumers.size(); ++i) {
      const std::uint8_t to = device[traffic.consumers[i]];
      const std::uint8_t before = i == first ? to : device[traffic.consumers[i - 1]];
      if (i == first || apart<fan_out>(before, to)) {
        const auto lane = static_cast<std::uint32_t>(traffic.lanes.size());
        traffic.messages.push_back({tensor, from, i, i, lane, lane, 0, 0, 0, 0});
      }
      Message& message = traffic.messages.back();
      if (message.consumer_begin == i || before != to) {
        const std::size_t pair = p.pair(from, to);
        if (p.column[pair] < 0) return MissingRoute{tensor, to};
        add_way(p, static_cast<std::size_t>(p.column[pair]), pair, traffic);
      }
      message.consumer_end = i + 1;
    }
    traffic.message_begin.push_back(static_cast<std::uint32_t>(traffic.messages.size()));
    traffic.local_begin.push_back(static_cast<std::uint32_t>(traffic.local.size()));
  }
  return std::nullopt;
}

}  // namespace

PlanMessages planner(FanOut fan_out) {
  switch (fan_out) {
    case FanOut::broadcast: return plan<FanOut::broadcast>;
    case FanOut::dest: return plan<FanOut::dest>;
    case FanOut::edge: return plan<FanOut::edge>;
  }
  EMPLACE_CHECK(false, "unknown fan-out");
}

}  // namespace emplace::simulate::published
