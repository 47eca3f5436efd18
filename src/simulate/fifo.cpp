// fifo in one heap entry an op: (time, op) when it becomes ready. Ops leave the heap in the order (ready time, op id),
// in which their devices run them, so an op's start and end are known as it leaves: the latest of its device's last end
// and its ready time, plus its time. Tensors with deferred sends (network.hpp) enter the heap at their op's end.
#include <algorithm>
#include <bit>

#include "core.hpp"
#include "key_heap.hpp"
#include "links.hpp"

namespace emplace {

namespace {

template <class Key>
struct Queue {
  KeyHeap<Key> heap;
  std::vector<Key> ready;  // what became ready in this step, and room for a key that did not

  void reserve(std::size_t keys, std::size_t keys_a_step) {
    heap.reserve(keys);
    ready.resize(keys_a_step);
  }
};

template <class Links>
class FifoCore final : public Core {
 public:
  explicit FifoCore(const Layout& layout) : layout_(layout), links_(layout), device_free_(layout.network.devices) {
    const std::size_t ops = layout.problem.op_count();
    const std::size_t ids = ops + (layout.network.any_deferred ? layout.problem.tensor_count() : 0);
    id_bits_ = static_cast<unsigned>(std::bit_width(ids));
    narrow_.reserve(ids, layout.most_edges + 1);
  }

  void simulate(Run& run, const std::vector<std::uint32_t>& /*order*/, bool record) override {
    if (!wide_needed_) {
      if (record ? run_with<true>(run, narrow_) : run_with<false>(run, narrow_)) return;
      // The times left no room for the ids in 64 bits: the same again in 128, from now on.
      wide_needed_ = true;
      wide_.reserve(narrow_.heap.capacity(), narrow_.ready.size());
      run.rewind();
    }
    record ? run_with<true>(run, wide_) : run_with<false>(run, wide_);
  }

 private:
  // False if a time was too long for the key; the starts are then meaningless.
  template <bool Record, class Key>
  bool run_with(Run& run, Queue<Key>& queue) {
    const auto ops = static_cast<std::uint32_t>(run.ops.size());
    links_.reset();
    queue.heap.clear();
    std::fill(device_free_.begin(), device_free_.end(), 0);
    Ticks seen = 0;
    const unsigned id_bits = id_bits_;
    const auto key_of = [&](Ticks time, std::uint32_t id) { return Key(time) << id_bits | id; };
    Key* const ready = queue.ready.data();
    KeyHeap<Key>& heap = queue.heap;
    std::size_t ready_count = 0;
    const auto arrive = [&](std::uint32_t op, OpState& state, Ticks time) {
      state.start = std::max(state.start, time);
      state.missing -= 1;
      seen |= time;
      ready[ready_count] = key_of(state.start, op);
      ready_count += state.missing == 0;
    };
    const auto start_op = [&](std::uint32_t op) {
      OpState& state = run.ops[op];
      Ticks& free = device_free_[state.device];
      state.start = std::max(state.start, free);
      const Ticks end = state.end();
      free = end;
      seen |= end;
      if constexpr (Links::may_defer)
        links_.template send<Record>(run, state, end, arrive,
                                     [&](std::uint32_t tensor) { heap.push(key_of(end, ops + tensor)); });
      else
        links_.template send<Record>(run, state, end, arrive);
    };

    for (const std::uint32_t op : layout_.roots) {
      start_op(op);
      for (std::size_t i = 0; i < ready_count; ++i) heap.push(ready[i]);
      ready_count = 0;
    }
    while (!heap.empty()) {
      const auto id = static_cast<std::uint32_t>(heap.top() & ((Key{1} << id_bits) - 1));
      if constexpr (Links::may_defer) {
        heap.replace_top(KeyHeap<Key>::none);
        if (id >= ops)
          links_.template send_deferred<Record>(run, id - ops, arrive);
        else
          start_op(id);
        for (std::size_t i = 0; i < ready_count; ++i) heap.push(ready[i]);
      } else {
        start_op(id);
        heap.replace_top(ready_count > 0 ? ready[0] : KeyHeap<Key>::none);
        for (std::size_t i = 1; i < ready_count; ++i) heap.push(ready[i]);
      }
      ready_count = 0;
    }
    run.makespan = *std::max_element(device_free_.begin(), device_free_.end());
    // One bit less than there is, so that no key is all ones.
    return sizeof(Key) > sizeof(Ticks) || seen >> (63 - id_bits) == 0;
  }

  const Layout& layout_;
  Links links_;
  std::vector<Ticks> device_free_;  // D
  unsigned id_bits_;
  bool wide_needed_ = false;
  Queue<std::uint64_t> narrow_;
  Queue<WideKey> wide_;
};

}  // namespace

std::unique_ptr<Core> make_fifo_core(const Layout& layout) {
  if (layout.network.private_pairs) return std::make_unique<FifoCore<PrivateLinks>>(layout);
  return std::make_unique<FifoCore<GeneralLinks>>(layout);
}

}  // namespace emplace
