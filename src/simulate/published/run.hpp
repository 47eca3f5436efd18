// One evaluation on the switched engine: first the messages that a placement needs (S1), then the events (S5), then the
// peaks (S7). Which variant of each is used is fixed when the engine is made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "emplace/problem/placement.hpp"
#include "simulate/published/network.hpp"

namespace emplace::simulate::published {

// One transfer. Its consumers and lanes are ranges of MessagePlan::consumers and MessagePlan::lanes.
struct Message {
  std::uint32_t tensor, from;
  std::uint32_t consumer_begin, consumer_end;  // by (device, id); the first one's device is the first destination
  std::uint32_t lane_begin, lane_end;
  Ticks travel, hold;
  Ticks requested, start;

  [[nodiscard]] Ticks end() const { return start + travel; }
};

// Messages are numbered in the order (tensor, destination, consumer), in which R3 breaks ties.
struct MessagePlan {
  std::vector<Message> messages;
  std::vector<std::uint32_t> consumers, lanes;
  std::vector<std::uint32_t> message_begin;  // T + 1: where each tensor's messages begin
  std::vector<std::uint32_t> local_begin;    // T + 1: where each tensor's consumers on its own device begin
  std::vector<std::uint32_t> local;
};

struct MissingRoute {
  std::uint32_t tensor;
  std::uint8_t device;
};

// Fills `traffic`, or returns a transfer that has no route (the one of the smallest tensor, then the smallest device).
using PlanMessages = std::optional<MissingRoute> (*)(const SwitchedProblem&, const std::vector<std::uint8_t>& device,
                                                     MessagePlan& traffic);
PlanMessages planner(FanOut fan_out);

struct Simulated {
  MessagePlan traffic;
  std::vector<Ticks> op_start, op_end;  // N
  Ticks last_event = 0;
};

// The event queue under one ready order. Fills in the times of `simulated`; its traffic must have been filled in
// before.
class SwitchedQueue {
 public:
  virtual ~SwitchedQueue() = default;
  virtual void run(const Placement& placement, Simulated& simulated) = 0;
};
std::unique_ptr<SwitchedQueue> make_event_queue(const SwitchedProblem& problem, ReadyOrder order);

// Computes the peak bytes of each device.
using FindPeaks = void (*)(const SwitchedProblem&, const std::vector<std::uint8_t>& device, const Simulated& simulated,
                           std::vector<Bytes>& peak);
FindPeaks peak_finder(MemoryModel model);

// Calls visit(device, begin, end) for each destination of a message: its consumers there.
template <class Visit>
void visit_destinations(const MessagePlan& traffic, const Message& message, const std::vector<std::uint8_t>& device,
                        Visit&& visit) {
  const std::uint32_t* const end = traffic.consumers.data() + message.consumer_end;
  for (const std::uint32_t* run = traffic.consumers.data() + message.consumer_begin; run != end;) {
    const std::uint32_t* next = run;
    while (next != end && device[*next] == device[*run]) ++next;
    visit(device[*run], run, next);
    run = next;
  }
}

}  // namespace emplace::simulate::published
