// priority: which op a device runs next is decided when it becomes free, so there are two events an op, (time, op
// becomes ready) and (time, device becomes free), besides the deferred sends (network.hpp). Transfers need none: their
// times are known when their op starts or, if deferred, when their request is reached.
#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "core.hpp"
#include "key_heap.hpp"
#include "links.hpp"

namespace emplace {

namespace {

// Per device, the positions in the given order of its ready ops: binary heaps in one array, each with room for all ops
// of its device.
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
class PriorityCore final : public Core {
 public:
  explicit PriorityCore(const Layout& layout)
      : layout_(layout),
        links_(layout),
        ready_(layout),
        idle_(layout.network.devices),
        position_(layout.problem.op_count()) {
    tensors_ = layout.network.any_deferred ? static_cast<std::uint32_t>(layout.problem.tensor_count()) : 0;
    const std::size_t ids = layout.problem.op_count() + tensors_ + layout.network.devices;
    id_bits_ = static_cast<unsigned>(std::bit_width(ids));
    narrow_.reserve(ids);
    touched_.reserve(ids);
  }

  void simulate(Run& run, const std::vector<std::uint32_t>& order, bool record) override {
    for (std::uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
    if (!wide_needed_) {
      if (record ? run_with<true>(run, order, narrow_) : run_with<false>(run, order, narrow_)) return;
      wide_needed_ = true;  // as in fifo.cpp
      wide_.reserve(narrow_.capacity());
      run.rewind();
    }
    record ? run_with<true>(run, order, wide_) : run_with<false>(run, order, wide_);
  }

 private:
  // False if a time was too long for the key; the starts are then meaningless.
  template <bool Record, class Key>
  bool run_with(Run& run, const std::vector<std::uint32_t>& order, KeyHeap<Key>& heap) {
    const auto ops = static_cast<std::uint32_t>(run.ops.size());
    links_.reset();
    ready_.reset(run);
    heap.clear();
    std::fill(idle_.begin(), idle_.end(), 1);
    touched_.clear();
    Ticks seen = 0;
    Ticks last = 0;
    const auto push = [&](Ticks time, std::uint32_t id) { heap.push(Key(time) << id_bits_ | id); };
    const auto arrive = [&](std::uint32_t op, OpState& state, Ticks time) {
      state.start = std::max(state.start, time);
      seen |= time;
      if (--state.missing == 0) push(state.start, op);
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
        push(end, ops + tensors_ + device);
        if constexpr (Links::may_defer)
          links_.template send<Record>(run, state, end, arrive, [&](std::uint32_t tensor) { push(end, ops + tensor); });
        else
          links_.template send<Record>(run, state, end, arrive);
      }
      touched_.clear();
    };

    for (const std::uint32_t op : layout_.roots) becomes_ready(op);
    start_what_can(0);
    while (!heap.empty()) {
      const Key now = heap.top() >> id_bits_;
      do {
        const auto id = static_cast<std::uint32_t>(heap.top() & ((Key{1} << id_bits_) - 1));
        heap.replace_top(KeyHeap<Key>::none);
        if (id < ops) {
          becomes_ready(id);
        } else if (id >= ops + tensors_) {
          idle_[id - ops - tensors_] = 1;
          touched_.push_back(id - ops - tensors_);
        } else if constexpr (Links::may_defer) {
          links_.template send_deferred<Record>(run, id - ops, arrive);
        }
      } while (!heap.empty() && heap.top() >> id_bits_ == now);
      start_what_can(static_cast<Ticks>(now));
    }
    run.makespan = last;
    return sizeof(Key) > sizeof(Ticks) || seen >> (63 - id_bits_) == 0;
  }

  const Layout& layout_;
  Links links_;
  ReadyOps ready_;
  std::vector<char> idle_;               // D
  std::vector<std::uint32_t> position_;  // N: in the given order
  std::vector<std::uint32_t> touched_;   // devices that may start an op at this instant, some twice
  std::uint32_t tensors_;                // how many tensors may have deferred sends: none or all
  unsigned id_bits_;
  bool wide_needed_ = false;
  KeyHeap<std::uint64_t> narrow_;
  KeyHeap<WideKey> wide_;
};

}  // namespace

std::unique_ptr<Core> make_priority_core(const Layout& layout) {
  if (layout.network.private_pairs) return std::make_unique<PriorityCore<PrivateLinks>>(layout);
  return std::make_unique<PriorityCore<GeneralLinks>>(layout);
}

}  // namespace emplace
