// fifo with one heap entry per op: (time, op), pushed when the op becomes ready. Ops leave the heap in the order (ready
// time, op id), in which their devices run them, so an op's start is known when it leaves the heap: the later of the
// end of its device's last op and its ready time. Ops without inputs are ready at 0, before all others, and need no
// heap.
#include <algorithm>
#include <utility>

#include "simulate/exact/core.hpp"
#include "simulate/exact/line_links.hpp"
#include "simulate/exact/links.hpp"
#include "simulate/exact/packed_core.hpp"

namespace emplace::simulate {

namespace {

// For networks without deferred sends (network.hpp).
template <class Links>
class PlainFifo {
 public:
  explicit PlainFifo(const Layout& layout) : layout_(layout), links_(layout), device_free_(layout.network.devices) {}

  static std::size_t ids(const Layout& layout) { return layout.problem.op_count(); }

  template <bool Record, class Key>
  bool run(Run& run, const std::vector<std::uint32_t>& /*order*/, EventQueue<Key>& queue, Packing<Key> packing) {
    // Data that fits in the inner caches needs no prefetching.
    constexpr std::size_t near = 1 << 20;
    const bool far = layout_.edges.size() * sizeof(Edge) + run.ops.size() * sizeof(OpState) > near;
    return far ? run_from<Record, true>(run, queue, packing) : run_from<Record, false>(run, queue, packing);
  }

 private:
  // A function of its own, so that the compiler has all registers for it.
  template <bool Record, bool Far, class Key>
  [[gnu::noinline]] bool run_from(Run& run, EventQueue<Key>& queue, Packing<Key> packing) {
    constexpr Key none = KeyHeap<Key>::none;
    links_.reset();
    std::fill(device_free_.begin(), device_free_.end(), 0);
    // Local copies, which the compiler can keep in registers.
    const typename Links::Sender sender = links_.sender(run);
    KeyHeap<Key> heap = std::move(queue.heap);
    OpState* const ops = run.ops.data();
    Ticks* const device_free = device_free_.data();
    // Ops that became ready are queued in `pending` until a place in the heap becomes free, one for each op that leaves
    // it. So the key for that place is known early, and the processor does not have to wait for the op that was just
    // started.
    Key* const pending = queue.pending.data();
    std::size_t first = 0;
    std::size_t last = 0;
    Key soonest = none;  // no pending key is smaller
    const auto start_op = [&](std::uint32_t op) {
      OpState& state = ops[op];
      Ticks& free = device_free[state.device];
      state.start = std::max(state.start, free);
      const Ticks end = state.end();
      free = end;
      sender.template send<Record>(state, end, [&](std::uint32_t consumer, OpState& its, Ticks time) {
        const Ticks latest = std::max(its.start, time);
        its.start = latest;
        its.missing -= 1;
        const Key key = packing.key(latest, consumer);
        const bool ready = its.missing == 0;
        if constexpr (Far) __builtin_prefetch(sender.edges + its.edge_begin);
        pending[last] = key;
        last += ready;
        soonest = std::min(soonest, key | (Key{ready} - 1));
      });
    };

    for (const std::uint32_t op : layout_.roots) start_op(op);
    [[maybe_unused]] const auto last_edge =
        static_cast<std::uint32_t>(layout_.edges.size() - 1);  // without edges the heap stays empty
    while (true) {
      if (soonest < heap.top()) {  // rare, so the branch is well predicted
        while (first != last) heap.push(pending[first++]);
        soonest = none;
        first = last = 0;
      }
      if (heap.empty()) break;
      const std::uint32_t op = packing.id(heap.top());
      // Masks instead of a branch, because whether a key is pending is as good as random.
      heap.replace_top(pending[first] | (Key{first != last} - 1));
      first += first != last;
      soonest |= Key{first != last} - 1;
      if constexpr (Far) {
        // Prefetches the data of the next op. If there is no next op or edge, any other is prefetched.
        const OpState& next = ops[std::min<std::size_t>(packing.id(heap.top()), run.ops.size() - 1)];
        const Edge ahead = sender.edges[std::min(next.edge_begin, last_edge)];
        __builtin_prefetch(&ops[ahead.consumer]);
        __builtin_prefetch(sender.transfer_time + ahead.row);
      }
      start_op(op);
    }
    run.makespan = *std::max_element(device_free_.begin(), device_free_.end());
    queue.heap = std::move(heap);
    // All arrivals and ends are at most the makespan.
    return packing.fits(run.makespan);
  }

  const Layout& layout_;
  Links links_;
  std::vector<Ticks> device_free_;  // D
};

// For all networks: tensors with deferred sends (network.hpp) enter the heap at their op's end, with ids after those of
// all ops.
class GeneralFifo {
 public:
  explicit GeneralFifo(const Layout& layout) : layout_(layout), links_(layout), device_free_(layout.network.devices) {}

  static std::size_t ids(const Layout& layout) {
    return layout.problem.op_count() + (layout.network.any_deferred ? layout.problem.tensor_count() : 0);
  }

  template <bool Record, class Key>
  bool run(Run& run, const std::vector<std::uint32_t>& /*order*/, EventQueue<Key>& queue, Packing<Key> packing) {
    const auto ops = static_cast<std::uint32_t>(run.ops.size());
    KeyHeap<Key>& heap = queue.heap;
    links_.reset();
    std::fill(device_free_.begin(), device_free_.end(), 0);
    Ticks seen = 0;
    const auto arrive = [&](std::uint32_t op, OpState& state, Ticks time) {
      state.start = std::max(state.start, time);
      seen |= time;
      if (--state.missing == 0) heap.push(packing.key(state.start, op));
    };
    const auto start_op = [&](std::uint32_t op) {
      OpState& state = run.ops[op];
      Ticks& free = device_free_[state.device];
      state.start = std::max(state.start, free);
      const Ticks end = free = state.end();
      seen |= end;
      links_.send<Record>(run, state, end, arrive,
                          [&](std::uint32_t tensor) { heap.push(packing.key(end, ops + tensor)); });
    };

    for (const std::uint32_t op : layout_.roots) start_op(op);
    while (!heap.empty()) {
      const std::uint32_t id = packing.id(heap.top());
      heap.replace_top(KeyHeap<Key>::none);
      if (id < ops)
        start_op(id);
      else
        links_.send_deferred<Record>(run, id - ops, arrive);
    }
    run.makespan = *std::max_element(device_free_.begin(), device_free_.end());
    return packing.fits(seen);
  }

 private:
  const Layout& layout_;
  GeneralLinks links_;
  std::vector<Ticks> device_free_;  // D
};

}  // namespace

std::unique_ptr<Core> make_fifo_core(const Layout& layout) {
  if (layout.network.private_pairs) return std::make_unique<PackedCore<PlainFifo<PrivateLinks>>>(layout);
  if (layout.network.one_line) return std::make_unique<PackedCore<PlainFifo<LineLinks>>>(layout);
  return std::make_unique<PackedCore<GeneralFifo>>(layout);
}

}  // namespace emplace::simulate
