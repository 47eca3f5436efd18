// The switched engine: checks a placement's feasibility (R6) and simulates it under switches that are fixed when the
// engine is made.
#include <algorithm>
#include <tuple>

#include "emplace/base/error.hpp"
#include "problem/cuts.hpp"
#include "simulate/published/run.hpp"

namespace emplace::simulate {

namespace {

using published::Message;

class SwitchedEngine final : public Engine {
 public:
  SwitchedEngine(const Problem& problem, const Switches& switches)
      : p_(problem, switches),
        plan_(published::planner(switches.fan_out)),
        queue_(published::make_event_queue(p_, switches.ready)),
        find_peaks_(published::peak_finder(switches.memory)),
        needs_order_(switches.ready == ReadyOrder::priority || switches.ready == ReadyOrder::in_order),
        reports_events_(switches.reported == ReportedTime::event),
        limited_(std::ranges::any_of(problem.devices, [](const Device& d) { return d.memory != no_memory_limit; })) {}

  Outcome evaluate(const Placement& placement, const Want& want) override {
    if (needs_order_ && placement.order.empty())
      throw InputError({}, "the simulator's ready order needs a placement with an order");
    if (want.usage) *want.usage = {};
    if (want.timeline) *want.timeline = {};
    if (want.starts) want.starts->clear();
    const std::vector<std::uint8_t>& device = placement.device;
    for (std::uint32_t op = 0; op < device.size(); ++op)
      if (p_.time(op, device[op]) == cannot_run)
        return {.why = Infeasible::unsupported_op, .device = device[op], .subject = op};
    if (const auto missing = plan_(p_, device, s_.traffic))
      return {.why = Infeasible::missing_route, .device = missing->device, .subject = missing->tensor};
    Outcome outcome = split_group(device);
    judge_cuts(p_.problem, device.data(), outcome);

    queue_->run(placement, s_);
    outcome.makespan = reports_events_ ? s_.last_event : std::ranges::max(s_.op_end);
    if (limited_ || want.usage) {
      find_peaks_(p_, device, s_, peak_);
      judge_memory(outcome);
    }
    if (want.usage) fill(*want.usage, device);
    if (want.timeline) fill(*want.timeline, device);
    if (want.starts) *want.starts = s_.op_start;
    return outcome;
  }

 private:
  [[nodiscard]] Outcome split_group(const std::vector<std::uint8_t>& device) {
    const Problem& p = p_.problem;
    device_of_group_.assign(p.group_names.size(), DeviceId{});
    GroupId split;
    for (std::size_t op = 0; op < device.size(); ++op) {
      if (p.group[op].is_none()) continue;
      DeviceId& first = device_of_group_[p.group[op].index()];
      if (first.is_none()) first = DeviceId{device[op]};
      if (first != DeviceId{device[op]}) split = std::min(split, p.group[op]);
    }
    if (split.is_none()) return {};
    return {.why = Infeasible::split_group, .subject = split.value};
  }

  void judge_memory(Outcome& outcome) const {
    for (std::size_t device = 0; device < p_.devices; ++device) {
      const Bytes limit = p_.problem.devices[device].memory;
      if (peak_[device] <= limit) continue;
      outcome.overflow += peak_[device] - limit;
      if (outcome.feasible()) {
        outcome.why = Infeasible::memory;
        outcome.device = static_cast<std::uint8_t>(device);
      }
    }
  }

  // Lists the problem's channels between the message's devices, each once.
  void find_channels(const Message& message, const std::vector<std::uint8_t>& device) {
    channels_.clear();
    visit_destinations(s_.traffic, message, device, [&](std::uint8_t to, const auto*, const auto*) {
      for (const std::uint32_t channel : p_.problem.route(DeviceId{message.from}, DeviceId{to}))
        if (std::ranges::find(channels_, channel) == channels_.end()) channels_.push_back(channel);
    });
  }

  void fill(Usage& usage, const std::vector<std::uint8_t>& device) {
    const Problem& p = p_.problem;
    usage = {std::vector<Ticks>(p_.devices), peak_, std::vector<Ticks>(p.channels.size()),
             std::vector<Bytes>(p.channels.size())};
    for (std::size_t op = 0; op < device.size(); ++op) usage.device_busy[device[op]] += s_.op_end[op] - s_.op_start[op];
    for (const Message& message : s_.traffic.messages) {
      find_channels(message, device);
      for (const std::uint32_t channel : channels_) {
        usage.channel_busy[channel] += message.hold;
        usage.channel_bytes[channel] += p_.message_bytes[message.tensor];
      }
    }
  }

  void fill(Timeline& timeline, const std::vector<std::uint8_t>& device) const {
    timeline.op_start = s_.op_start;
    timeline.op_end = s_.op_end;
    for (const Message& m : s_.traffic.messages)
      visit_destinations(s_.traffic, m, device, [&](std::uint8_t to, const auto*, const auto*) {
        timeline.transfers.push_back(
            {TensorId{m.tensor}, DeviceId{m.from}, DeviceId{to}, m.requested, m.start, m.end()});
      });
    std::ranges::stable_sort(timeline.transfers, {},
                             [](const Timeline::Transfer& t) { return std::tuple(t.start, t.tensor, t.to); });
  }

  const published::SwitchedProblem p_;
  const published::PlanMessages plan_;
  const std::unique_ptr<published::SwitchedQueue> queue_;
  const published::FindPeaks find_peaks_;
  const bool needs_order_, reports_events_, limited_;
  published::Simulated s_;
  std::vector<Bytes> peak_;
  std::vector<DeviceId> device_of_group_;
  std::vector<std::uint32_t> channels_;
};

}  // namespace

std::unique_ptr<Engine> make_switched_engine(const Problem& problem, const Switches& switches) {
  return std::make_unique<SwitchedEngine>(problem, switches);
}

}  // namespace emplace::simulate
