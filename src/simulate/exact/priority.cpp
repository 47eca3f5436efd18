// priority: the op that a device runs next is chosen when the device becomes free, so there are two events per op,
// (time, op becomes ready) and (time, device becomes free), and one per deferred send (network.hpp). Other transfers
// need no event: their times are known when their op starts.
#include <algorithm>
#include <functional>
#include <utility>

#include "simulate/exact/core.hpp"
#include "simulate/exact/line_links.hpp"
#include "simulate/exact/links.hpp"
#include "simulate/exact/packed_core.hpp"

namespace emplace::simulate {

namespace {

// Per device, the ready ops' positions in the given order: binary heaps in one array, each with room for all ops of its
// device.
class ReadyOps {
 public:
  explicit ReadyOps(const Layout& layout)
      : positions_(layout.problem.op_count()), begin_(layout.network.devices), end_(layout.network.devices) {}

  void reset(const Run& run) {
    std::fill(end_.begin(), end_.end(), 0);
    for (const OpState& state : run.ops) ++end_[state.device];
    std::uint32_t next = 0;
    for (std::size_t device = 0; device < begin_.size(); ++device) {
      begin_[device] = next;
      next += std::exchange(end_[device], next);
    }
  }
  [[nodiscard]] bool empty(std::uint32_t device) const { return begin_[device] == end_[device]; }
  void push(std::uint32_t device, std::uint32_t position) {
    positions_[end_[device]++] = position;
    std::push_heap(&positions_[begin_[device]], positions_.data() + end_[device], std::greater<>());
  }
  std::uint32_t pop(std::uint32_t device) {
    std::pop_heap(&positions_[begin_[device]], positions_.data() + end_[device], std::greater<>());
    return positions_[--end_[device]];
  }

 private:
  std::vector<std::uint32_t> positions_;    // N
  std::vector<std::uint32_t> begin_, end_;  // D
};

template <class Links>
class Priority {
 public:
  explicit Priority(const Layout& layout)
      : layout_(layout),
        links_(layout),
        ready_(layout),
        idle_(layout.network.devices),
        position_(layout.problem.op_count()),
        tensors_(tensors(layout)) {
    touched_.reserve(layout.problem.op_count() + layout.network.devices);
  }

  // Ids of events: ops, then tensors with deferred sends, then devices.
  static std::size_t ids(const Layout& layout) {
    return layout.problem.op_count() + tensors(layout) + layout.network.devices;
  }

  template <bool Record, class Key>
  bool run(Run& run, const std::vector<std::uint32_t>& order, EventQueue<Key>& queue, Packing<Key> packing) {
    const auto ops = static_cast<std::uint32_t>(run.ops.size());
    KeyHeap<Key>& heap = queue.heap;
    for (std::uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    links_.reset();
    ready_.reset(run);
    std::fill(idle_.begin(), idle_.end(), 1);
    touched_.clear();
    Ticks seen = 0;
    Ticks last = 0;
    const auto arrive = [&](std::uint32_t op, OpState& state, Ticks time) {
      state.start = std::max(state.start, time);
      seen |= time;
      if (--state.missing == 0) heap.push(packing.key(state.start, op));
    };
    const auto becomes_ready = [&](std::uint32_t op) {
      ready_.push(run.ops[op].device, position_[op]);
      touched_.push_back(run.ops[op].device);
    };
    const auto start_what_can = [&](Ticks now) {
      for (const std::uint32_t device : touched_) {
        if (!idle_[device] || ready_.empty(device)) continue;
        idle_[device] = 0;
        OpState& state = run.ops[order[ready_.pop(device)]];
        state.start = now;
        const Ticks end = state.end();
        seen |= end;
        last = std::max(last, end);
        heap.push(packing.key(end, ops + tensors_ + device));
        if constexpr (Links::may_defer)
          links_.template send<Record>(run, state, end, arrive,
                                       [&](std::uint32_t tensor) { heap.push(packing.key(end, ops + tensor)); });
        else
          links_.sender(run).template send<Record>(state, end, arrive);
      }
      touched_.clear();
    };

    for (const std::uint32_t op : layout_.roots) becomes_ready(op);
    start_what_can(0);
    while (!heap.empty()) {
      const Key now = packing.time(heap.top());
      do {
        const std::uint32_t id = packing.id(heap.top());
        heap.replace_top(KeyHeap<Key>::none);
        if (id < ops) {
          becomes_ready(id);
        } else if (id >= ops + tensors_) {
          idle_[id - ops - tensors_] = 1;
          touched_.push_back(id - ops - tensors_);
        } else if constexpr (Links::may_defer) {
          links_.template send_deferred<Record>(run, id - ops, arrive);
        }
      } while (!heap.empty() && packing.time(heap.top()) == now);
      start_what_can(static_cast<Ticks>(now));
    }
    run.makespan = last;
    return packing.fits(seen);
  }

 private:
  static std::uint32_t tensors(const Layout& layout) {
    return layout.network.any_deferred ? static_cast<std::uint32_t>(layout.problem.tensor_count()) : 0;
  }

  const Layout& layout_;
  Links links_;
  ReadyOps ready_;
  std::vector<char> idle_;               // D
  std::vector<std::uint32_t> position_;  // N: of each op in the given order
  std::vector<std::uint32_t> touched_;   // devices that may start an op at this instant; may repeat
  std::uint32_t tensors_;
};

}  // namespace

std::unique_ptr<Core> make_priority_core(const Layout& layout) {
  if (layout.network.private_pairs) return std::make_unique<PackedCore<Priority<PrivateLinks>>>(layout);
  if (layout.network.one_line) return std::make_unique<PackedCore<Priority<LineLinks>>>(layout);
  return std::make_unique<PackedCore<Priority<GeneralLinks>>>(layout);
}

}  // namespace emplace::simulate
