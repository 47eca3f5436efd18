// The plain event queue: the rules R1-R6 (docs/simulation.md), implemented as literally as possible. Every other engine
// is tested against it, so it shares no code with them and is not optimised.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/simulate/engine.hpp"

namespace emplace::simulate {

namespace {

constexpr Ticks not_yet = -1;

// The reasons of R6, in its order. A missing route matters only if this placement needs it. Memory is checked after the
// simulation.
Outcome judge(const Problem& p, const std::vector<std::uint8_t>& device) {
  Outcome outcome;
  for (std::uint32_t op = 0; op < p.op_count(); ++op)
    if (!p.can_run(OpId{op}, DeviceId{device[op]}))
      return {.why = Infeasible::unsupported_op, .device = device[op], .subject = op};
  for (std::uint32_t t = 0; t < p.tensor_count(); ++t) {
    const std::uint8_t from = device[p.producer[t].index()];
    std::set<std::uint8_t> destinations;
    for (const std::uint32_t consumer : p.consumers[t]) destinations.insert(device[consumer]);
    for (const std::uint8_t to : destinations)
      if (to != from && !p.has_route(DeviceId{from}, DeviceId{to}))
        return {.why = Infeasible::missing_route, .device = to, .subject = t};
  }
  std::vector<std::set<std::uint8_t>> devices_of_group(p.group_names.size());
  for (std::uint32_t op = 0; op < p.op_count(); ++op)
    if (!p.group[op].is_none()) devices_of_group[p.group[op].index()].insert(device[op]);
  for (std::uint32_t g = 0; g < devices_of_group.size(); ++g)
    if (devices_of_group[g].size() > 1) return {.why = Infeasible::split_group, .subject = g};
  std::set<std::uint32_t> cut;
  for (std::uint32_t op = 0; op < p.op_count(); ++op)
    for (const std::uint32_t t : p.inputs[op])
      if (device[p.producer[t].index()] != device[op]) cut.insert(t);
  if (cut.size() > p.max_cuts)
    return {.why = Infeasible::too_many_cuts, .subject = static_cast<std::uint32_t>(cut.size())};
  return outcome;
}

struct Simulation {
  const Problem& p;
  const Schedule schedule;
  const Placement& placement;

  using Transfer = Timeline::Transfer;
  // R3: the order of waiting transfers; the last member is the position in `transfers`.
  using Waiting = std::tuple<Ticks, TensorId, DeviceId, std::size_t>;
  // R1: the order of ready ops. fifo: (ready time, op id); priority: (0, position in the given order).
  using Ready = std::pair<Ticks, std::uint32_t>;
  enum class End { op, transfer };
  using Event = std::tuple<Ticks, End, std::size_t>;

  std::vector<Ticks> op_start, op_end;
  std::vector<Transfer> transfers;  // in order of request
  std::vector<Ticks> send_end;      // T: when the last send of the tensor ended, or not_yet

  std::vector<std::size_t> missing_inputs;            // N
  std::vector<std::uint32_t> position;                // N: of each op in the given order
  std::vector<std::vector<std::uint32_t>> own_order;  // D: in-order: the given order restricted to the device
  std::vector<std::size_t> own_next;                  // D: how many of own_order have started
  std::vector<std::set<Ready>> ready;                 // D
  std::vector<char> device_busy;                      // D
  std::vector<std::set<Waiting>> line;                // C: waiting transfers of each channel with contention
  std::vector<char> channel_busy;                     // C
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;

  Simulation(const Problem& problem, Schedule by, const Placement& where)
      : p(problem),
        schedule(by),
        placement(where),
        op_start(p.op_count(), not_yet),
        op_end(p.op_count(), not_yet),
        send_end(p.tensor_count(), not_yet),
        missing_inputs(p.op_count()),
        position(p.op_count()),
        own_order(p.device_count()),
        own_next(p.device_count()),
        ready(p.device_count()),
        device_busy(p.device_count()),
        line(p.channels.size()),
        channel_busy(p.channels.size()) {
    for (std::uint32_t i = 0; i < placement.order.size(); ++i) {
      position[placement.order[i]] = i;
      own_order[device_of(placement.order[i]).index()].push_back(placement.order[i]);
    }
    for (std::uint32_t op = 0; op < p.op_count(); ++op) {
      missing_inputs[op] = p.inputs[op].size();
      if (missing_inputs[op] == 0) becomes_ready(op, 0);
    }
  }

  [[nodiscard]] DeviceId device_of(std::size_t op) const { return DeviceId{placement.device[op]}; }

  // R4: at one instant, everything that ends is handled before anything starts. Nothing lasts 0 ticks (a tensor of 0
  // bytes over a channel without latency takes 1), so everything that starts now ends later.
  void run() {
    start_what_can(0);
    while (!events.empty()) {
      const Ticks now = std::get<Ticks>(events.top());
      while (!events.empty() && std::get<Ticks>(events.top()) == now) {
        const auto [time, kind, index] = events.top();
        events.pop();
        kind == End::op ? end_op(static_cast<std::uint32_t>(index), now) : end_transfer(index);
      }
      start_what_can(now);
    }
    for (const Ticks end : op_end) EMPLACE_CHECK(end != not_yet, "the simulation stopped before every op had run");
  }

  void becomes_ready(std::uint32_t op, Ticks now) {
    ready[device_of(op).index()].insert(schedule == Schedule::fifo ? Ready{now, op} : Ready{0, position[op]});
  }

  void arrive(std::uint32_t tensor, DeviceId device, Ticks now) {
    for (const std::uint32_t consumer : p.consumers[tensor])
      if (device_of(consumer) == device && --missing_inputs[consumer] == 0) becomes_ready(consumer, now);
  }

  // R2: one send for each other device that has a consumer.
  void end_op(std::uint32_t op, Ticks now) {
    const DeviceId from = device_of(op);
    device_busy[from.index()] = 0;
    for (const std::uint32_t tensor : p.outputs[op]) {
      arrive(tensor, from, now);
      std::set<DeviceId> destinations;
      for (const std::uint32_t consumer : p.consumers[tensor]) destinations.insert(device_of(consumer));
      for (const DeviceId to : destinations)
        if (to != from) request(TensorId{tensor}, from, to, now);
    }
  }

  void end_transfer(std::size_t index) {
    const Transfer& transfer = transfers[index];
    for (const std::uint32_t channel : p.route(transfer.from, transfer.to)) channel_busy[channel] = 0;
    send_end[transfer.tensor.index()] = transfer.end;
    arrive(transfer.tensor.value, transfer.to, transfer.end);
  }

  // A channel without contention has no queue; over a route of only such channels a transfer starts when it is
  // requested.
  void request(TensorId tensor, DeviceId from, DeviceId to, Ticks now) {
    transfers.push_back({tensor, from, to, now, not_yet, not_yet});
    const std::size_t index = transfers.size() - 1;
    bool waits = false;
    for (const std::uint32_t channel : p.route(from, to))
      if (p.channels[channel].contention) {
        line[channel].insert({now, tensor, to, index});
        waits = true;
      }
    if (!waits) start_transfer(index, now);
  }

  void start_what_can(Ticks now) {
    for (std::size_t device = 0; device < p.device_count(); ++device)
      if (!device_busy[device]) start_next_op(device, now);
    // A transfer that starts only occupies channels, so it never makes it possible for another to start at the same
    // instant: the order of this loop does not matter.
    for (const std::set<Waiting>& waiting : line)
      if (!waiting.empty() && may_start(*waiting.begin())) start_transfer(std::get<std::size_t>(*waiting.begin()), now);
  }

  // R1.
  void start_next_op(std::size_t device, Ticks now) {
    if (ready[device].empty()) return;
    Ready next = *ready[device].begin();
    if (schedule == Schedule::in_order) {  // the next of the given order, or none
      next = {0, position[own_order[device][own_next[device]]]};
      if (!ready[device].contains(next)) return;
      ++own_next[device];
    }
    ready[device].erase(next);
    const std::uint32_t op = schedule == Schedule::fifo ? next.second : placement.order[next.second];
    device_busy[device] = 1;
    op_start[op] = now;
    op_end[op] = now + p.time(OpId{op}, DeviceId{device});
    events.push({op_end[op], End::op, op});
  }

  // R3: whether it is first in the queue of every channel of its route, and all of them are free. A transfer that waits
  // for one channel blocks the queues of the others (head-of-line blocking).
  [[nodiscard]] bool may_start(const Waiting& first) const {
    const Transfer& transfer = transfers[std::get<std::size_t>(first)];
    return std::ranges::all_of(p.route(transfer.from, transfer.to), [&](std::uint32_t channel) {
      return !p.channels[channel].contention || (!channel_busy[channel] && *line[channel].begin() == first);
    });
  }

  void start_transfer(std::size_t index, Ticks now) {
    Transfer& transfer = transfers[index];
    transfer.start = now;
    transfer.end = now + p.transfer(transfer.tensor, transfer.from, transfer.to);
    for (const std::uint32_t channel : p.route(transfer.from, transfer.to))
      if (p.channels[channel].contention) {
        line[channel].erase({transfer.requested, transfer.tensor, transfer.to, index});
        channel_busy[channel] = 1;
      }
    events.push({transfer.end, End::transfer, index});
  }

  // R5: every allocation and free of a device in order of (time, frees first).
  [[nodiscard]] std::vector<Bytes> peaks() const {
    struct Change {
      Ticks time;
      Bytes bytes;  // below 0: freed
    };
    std::vector<std::vector<Change>> changes(p.device_count());
    std::vector<Bytes> used(p.device_count(), 0);
    const auto hold = [&](DeviceId device, Ticks begin, Ticks end, Bytes bytes) {
      changes[device.index()].push_back({begin, bytes});
      changes[device.index()].push_back({end, -bytes});
    };
    const auto last_use = [&](std::size_t tensor, DeviceId device) {
      Ticks end = not_yet;
      for (const std::uint32_t consumer : p.consumers[tensor])
        if (device_of(consumer) == device) end = std::max(end, op_end[consumer]);
      return end;
    };
    for (std::size_t op = 0; op < p.op_count(); ++op) {
      used[device_of(op).index()] += p.resident[op];
      hold(device_of(op), op_start[op], op_end[op], p.scratch[op]);
    }
    for (std::size_t t = 0; t < p.tensor_count(); ++t) {
      const std::size_t op = p.producer[t].index();
      hold(device_of(op), op_start[op], std::max({op_end[op], last_use(t, device_of(op)), send_end[t]}),
           p.tensor_bytes[t]);
    }
    for (const Transfer& transfer : transfers)
      hold(transfer.to, transfer.start, last_use(transfer.tensor.index(), transfer.to),
           p.tensor_bytes[transfer.tensor.index()]);

    std::vector<Bytes> peak = used;
    for (std::size_t device = 0; device < p.device_count(); ++device) {
      std::ranges::sort(changes[device], {}, [](const Change& c) { return std::pair(c.time, c.bytes > 0); });
      for (const Change& change : changes[device]) peak[device] = std::max(peak[device], used[device] += change.bytes);
    }
    return peak;
  }
};

class ReferenceEngine final : public Engine {
 public:
  ReferenceEngine(const Problem& problem, Schedule schedule) : p_(problem), schedule_(schedule) {}

  Outcome evaluate(const Placement& placement, const Want& want) override {
    if (schedule_ != Schedule::fifo && placement.order.empty())
      throw InputError({}, "the schedule {} needs a placement with an order", name_of(schedule_));
    if (want.usage) *want.usage = {};
    if (want.timeline) *want.timeline = {};
    if (want.starts) want.starts->clear();
    Outcome outcome = judge(p_, placement.device);
    if (outcome.why == Infeasible::unsupported_op || outcome.why == Infeasible::missing_route) return outcome;

    Simulation simulation(p_, schedule_, placement);
    simulation.run();
    outcome.makespan = std::ranges::max(simulation.op_end);
    const std::vector<Bytes> peak = simulation.peaks();
    for (std::size_t device = 0; device < p_.device_count(); ++device) {
      if (peak[device] <= p_.devices[device].memory) continue;
      outcome.overflow += peak[device] - p_.devices[device].memory;
      if (outcome.feasible()) {
        outcome.why = Infeasible::memory;
        outcome.device = static_cast<std::uint8_t>(device);
      }
    }
    if (want.usage) *want.usage = usage(simulation, placement, peak);
    if (want.timeline) *want.timeline = timeline(simulation);
    if (want.starts) *want.starts = simulation.op_start;
    return outcome;
  }

 private:
  // A transfer is counted on every channel of its route, with or without contention (docs/simulation.md).
  [[nodiscard]] Usage usage(const Simulation& s, const Placement& placement, const std::vector<Bytes>& peak) const {
    const std::size_t channels = p_.channels.size();
    Usage usage{std::vector<Ticks>(p_.device_count()), peak, std::vector<Ticks>(channels),
                std::vector<Bytes>(channels)};
    for (std::size_t op = 0; op < p_.op_count(); ++op)
      usage.device_busy[placement.device[op]] += s.op_end[op] - s.op_start[op];
    for (const Timeline::Transfer& transfer : s.transfers)
      for (const std::uint32_t channel : p_.route(transfer.from, transfer.to)) {
        usage.channel_busy[channel] += transfer.end - transfer.start;
        usage.channel_bytes[channel] += p_.tensor_bytes[transfer.tensor.index()];
      }
    return usage;
  }

  static Timeline timeline(const Simulation& s) {
    Timeline timeline{s.op_start, s.op_end, s.transfers};
    std::ranges::sort(timeline.transfers, {},
                      [](const Timeline::Transfer& t) { return std::tuple(t.start, t.tensor, t.to); });
    return timeline;
  }

  const Problem& p_;
  const Schedule schedule_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(const Problem& problem, Schedule schedule) {
  return std::make_unique<ReferenceEngine>(problem, schedule);
}

}  // namespace emplace::simulate
