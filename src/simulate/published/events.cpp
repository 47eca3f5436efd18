// The events of one evaluation. All ends at one instant are handled before anything starts (R4), so the order of events
// at one instant does not matter. An op or transfer of 0 ticks ends at the instant of its start, after everything else
// that starts then.
#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>

#include "emplace/base/error.hpp"
#include "simulate/published/launches.hpp"
#include "simulate/published/run.hpp"

namespace emplace::simulate::published {

namespace {

constexpr std::uint32_t no_op = OpId::none_value;

// S5 as one queue per device: the smallest key comes first.
struct Ready {
  Ticks first;
  std::uint32_t second, op;
  friend bool operator>(const Ready& a, const Ready& b) {
    return a.first != b.first ? a.first > b.first : a.second > b.second;
  }
};

template <class Key>
class KeyOrder {
 public:
  explicit KeyOrder(const SwitchedProblem& p) : queues_(p.devices) {}
  void begin(const Placement& placement) {
    key_.begin(placement);
    for (auto& queue : queues_) queue.clear();
  }
  void put(std::size_t device, std::uint32_t op, Ticks now) {
    queues_[device].push_back(key_(op, now));
    std::push_heap(queues_[device].begin(), queues_[device].end(), std::greater<>());
  }
  std::uint32_t take(std::size_t device) {
    auto& queue = queues_[device];
    if (queue.empty()) return no_op;
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const std::uint32_t op = queue.back().op;
    queue.pop_back();
    return op;
  }

 private:
  Key key_;
  std::vector<std::vector<Ready>> queues_;
};

struct FirstReady {
  void begin(const Placement&) {}
  Ready operator()(std::uint32_t op, Ticks now) const { return {now, op, op}; }
};
// The order in which ops entered the queue of their device, which under S12 may be before their inputs are computed.
struct FirstEnqueued {
  std::uint32_t count = 0;
  void begin(const Placement&) { count = 0; }
  Ready operator()(std::uint32_t op, Ticks) { return {0, count++, op}; }
};
struct LastReady {
  void begin(const Placement&) {}
  Ready operator()(std::uint32_t op, Ticks now) const { return {-now, no_op - op, op}; }
};
struct GivenPriority {
  std::vector<std::uint32_t> position;
  void begin(const Placement& placement) {
    position.resize(placement.order.size());
    for (std::uint32_t i = 0; i < placement.order.size(); ++i) position[placement.order[i]] = i;
  }
  Ready operator()(std::uint32_t op, Ticks) const { return {0, position[op], op}; }
};

// Each device runs its ops in the given order, and waits if the next one is not ready.
class StreamOrder {
 public:
  explicit StreamOrder(const SwitchedProblem& p) : streams_(p.devices), next_(p.devices) {}
  void begin(const Placement& placement) {
    for (auto& stream : streams_) stream.clear();
    for (const std::uint32_t op : placement.order) streams_[placement.device[op]].push_back(op);
    std::ranges::fill(next_, 0);
    ready_.assign(placement.order.size(), 0);
  }
  void put(std::size_t, std::uint32_t op, Ticks) { ready_[op] = 1; }
  std::uint32_t take(std::size_t device) {
    const auto& stream = streams_[device];
    if (next_[device] == stream.size() || !ready_[stream[next_[device]]]) return no_op;
    return stream[next_[device]++];
  }

 private:
  std::vector<std::vector<std::uint32_t>> streams_;
  std::vector<std::size_t> next_;
  std::vector<std::uint8_t> ready_;
};

enum class Kind : std::uint32_t { op_end, device_free, arrival, lanes_free, dispatched };
struct Event {
  Ticks time;
  Kind kind;
  std::uint32_t index;  // op or message
  friend bool operator>(const Event& a, const Event& b) { return a.time > b.time; }
};

template <class Order>
class Queue final : public SwitchedQueue {
 public:
  explicit Queue(const SwitchedProblem& problem)
      : p_(problem), order_(problem), launches_(problem), lines_(problem.lane_count) {}

  void run(const Placement& placement, Simulated& simulated) override {
    begin(placement, simulated);
    for (std::uint32_t op = 0; op < missing_.size(); ++op)
      if (missing_[op] == 0) becomes_ready(op, 0);
    start_what_can(0);
    Ticks now = 0;
    while (!events_.empty()) {
      now = events_.front().time;
      while (!events_.empty() && events_.front().time == now) {
        std::pop_heap(events_.begin(), events_.end(), std::greater<>());
        const Event event = events_.back();
        events_.pop_back();
        handle(event, now);
      }
      start_what_can(now);
    }
    simulated.last_event = now;
    EMPLACE_CHECK(ended_ == missing_.size(), "the simulation stopped before every op had run");
  }

 private:
  void begin(const Placement& placement, Simulated& simulated) {
    device_ = placement.device.data();
    s_ = &simulated;
    order_.begin(placement);
    launches_.begin(device_);
    missing_ = p_.inputs;
    ended_ = 0;
    s_->op_start.assign(missing_.size(), 0);
    s_->op_end.assign(missing_.size(), 0);
    device_busy_.assign(p_.devices, 0);
    lane_busy_.assign(p_.lane_count, 0);
  }

  void push(Ticks time, Kind kind, std::uint32_t index) {
    events_.push_back({time, kind, index});
    std::push_heap(events_.begin(), events_.end(), std::greater<>());
  }

  // The order of enqueuing matters only if the device keeps it.
  void becomes_ready(std::uint32_t op, Ticks now) {
    if constexpr (std::is_same_v<Order, KeyOrder<FirstEnqueued>>)
      launches_.put(op);
    else
      enqueue(op, now);
  }
  void enqueue(std::uint32_t op, Ticks now) {
    order_.put(device_[op], op, now);
    devices_to_try_.push_back(device_[op]);
    if (is_streamed(op)) release_local(op, now);
  }
  // S12: whether consumers on the op's device may be enqueued as soon as the op is, because the device runs them later.
  [[nodiscard]] bool is_streamed(std::uint32_t op) const { return p_.streams && p_.accelerator[device_[op]] != 0; }
  void release_local(std::uint32_t op, Ticks now) {
    const MessagePlan& traffic = s_->traffic;
    for (const std::uint32_t tensor : p_.problem.outputs[op])
      for (std::uint32_t i = traffic.local_begin[tensor]; i < traffic.local_begin[tensor + 1]; ++i)
        release(traffic.local[i], now);
  }
  void release(std::uint32_t op, Ticks now) {
    if (--missing_[op] == 0) becomes_ready(op, now);
  }

  void handle(const Event& event, Ticks now) {
    const MessagePlan& traffic = s_->traffic;
    switch (event.kind) {
      case Kind::op_end: end_op(event.index, now); return;
      case Kind::device_free:
        device_busy_[device_[event.index]] = 0;
        devices_to_try_.push_back(device_[event.index]);
        return;
      case Kind::arrival: {
        const Message& message = traffic.messages[event.index];
        for (std::uint32_t i = message.consumer_begin; i < message.consumer_end; ++i)
          release(traffic.consumers[i], now);
        return;
      }
      case Kind::dispatched: {
        launches_.host_is_free();
        enqueue(event.index, now);
        return;
      }
      case Kind::lanes_free: {
        const Message& message = traffic.messages[event.index];
        for (std::uint32_t i = message.lane_begin; i < message.lane_end; ++i) {
          lane_busy_[traffic.lanes[i]] = 0;
          lanes_to_try_.push_back(traffic.lanes[i]);
        }
        return;
      }
    }
  }

  void end_op(std::uint32_t op, Ticks now) {
    const MessagePlan& traffic = s_->traffic;
    ++ended_;
    for (const std::uint32_t consumer : p_.released[op]) release(consumer, now);
    if (!is_streamed(op)) release_local(op, now);
    for (const std::uint32_t tensor : p_.problem.outputs[op])
      for (std::uint32_t m = traffic.message_begin[tensor]; m < traffic.message_begin[tensor + 1]; ++m) request(m, now);
  }

  // A message without lanes starts at once. Others wait in the queue of each of their lanes, in order of (request time,
  // id).
  void request(std::uint32_t id, Ticks now) {
    Message& message = s_->traffic.messages[id];
    message.requested = now;
    if (message.lane_begin == message.lane_end) {
      message.start = now;
      push(message.end(), Kind::arrival, id);
      return;
    }
    for (std::uint32_t i = message.lane_begin; i < message.lane_end; ++i) {
      const std::uint32_t lane = s_->traffic.lanes[i];
      lines_[lane].emplace_back(now, id);
      std::push_heap(lines_[lane].begin(), lines_[lane].end(), std::greater<>());
      lanes_to_try_.push_back(lane);
    }
  }

  // Only devices and lanes with an event at this instant can start something.
  void start_what_can(Ticks now) {
    launches_.advance([&](std::uint32_t op) { enqueue(op, now); },
                      [&](std::uint32_t op) { push(now + p_.dispatch, Kind::dispatched, op); });
    for (const std::uint32_t device : devices_to_try_)
      if (!device_busy_[device])
        if (const std::uint32_t op = order_.take(device); op != no_op) start_op(op, device, now);
    devices_to_try_.clear();
    for (const std::uint32_t lane : lanes_to_try_)
      if (!lines_[lane].empty() && may_start(lines_[lane].front())) start_message(lines_[lane].front().second, now);
    lanes_to_try_.clear();
  }

  void start_op(std::uint32_t op, std::size_t device, Ticks now) {
    device_busy_[device] = 1;
    s_->op_start[op] = now;
    s_->op_end[op] = now + p_.time(op, device);
    push(s_->op_end[op], Kind::op_end, op);
    push(now + p_.op_hold[op * p_.devices + device], Kind::device_free, op);
  }

  // R3: whether it is the first in the queue of every lane, and all of them are free.
  [[nodiscard]] bool may_start(const std::pair<Ticks, std::uint32_t>& first) const {
    const Message& message = s_->traffic.messages[first.second];
    for (std::uint32_t i = message.lane_begin; i < message.lane_end; ++i) {
      const std::uint32_t lane = s_->traffic.lanes[i];
      if (lane_busy_[lane] || lines_[lane].front() != first) return false;
    }
    return true;
  }

  void start_message(std::uint32_t id, Ticks now) {
    Message& message = s_->traffic.messages[id];
    message.start = now;
    for (std::uint32_t i = message.lane_begin; i < message.lane_end; ++i) {
      auto& line = lines_[s_->traffic.lanes[i]];
      std::pop_heap(line.begin(), line.end(), std::greater<>());
      line.pop_back();
      lane_busy_[s_->traffic.lanes[i]] = 1;
    }
    push(message.end(), Kind::arrival, id);
    push(now + message.hold, Kind::lanes_free, id);
  }

  const SwitchedProblem& p_;
  const std::uint8_t* device_ = nullptr;
  Simulated* s_ = nullptr;
  Order order_;
  Launches launches_;
  std::vector<Event> events_;
  // N: number of releases that the op still waits for.
  std::vector<std::uint32_t> missing_;
  std::vector<std::uint8_t> device_busy_, lane_busy_;                // D, lanes
  std::vector<std::uint32_t> devices_to_try_, lanes_to_try_;         // may repeat
  std::vector<std::vector<std::pair<Ticks, std::uint32_t>>> lines_;  // lanes: heaps of (request time, message)
  std::size_t ended_ = 0;
};

}  // namespace

std::unique_ptr<SwitchedQueue> make_event_queue(const SwitchedProblem& problem, ReadyOrder order) {
  switch (order) {
    case ReadyOrder::fifo: return std::make_unique<Queue<KeyOrder<FirstReady>>>(problem);
    case ReadyOrder::priority: return std::make_unique<Queue<KeyOrder<GivenPriority>>>(problem);
    case ReadyOrder::lifo: return std::make_unique<Queue<KeyOrder<LastReady>>>(problem);
    case ReadyOrder::in_order: return std::make_unique<Queue<StreamOrder>>(problem);
    case ReadyOrder::enqueued: return std::make_unique<Queue<KeyOrder<FirstEnqueued>>>(problem);
  }
  EMPLACE_CHECK(false, "unknown ready order");
}

}  // namespace emplace::simulate::published
