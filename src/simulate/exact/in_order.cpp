// in-order without an event queue: the given order has producers before consumers, so all inputs' arrivals are known
// when the walk along the order reaches an op. Only deferred sends (network.hpp) need a heap, in the order of their
// requests; then each device is walked on its own, and an op starts as soon as the arrivals of all its inputs are
// known.
#include <algorithm>
#include <bit>
#include <utility>

#include "simulate/exact/core.hpp"
#include "simulate/exact/key_heap.hpp"
#include "simulate/exact/line_links.hpp"
#include "simulate/exact/links.hpp"

namespace emplace::simulate {

namespace {

template <class Links>
class PlainInOrder final : public Core {
 public:
  explicit PlainInOrder(const Layout& layout) : links_(layout), device_free_(layout.network.devices) {}

  void simulate(Run& run, const std::vector<std::uint32_t>& order, bool record) override {
    record ? walk<true>(run, order) : walk<false>(run, order);
  }

 private:
  template <bool Record>
  void walk(Run& run, const std::vector<std::uint32_t>& order) {
    links_.reset();
    std::fill(device_free_.begin(), device_free_.end(), 0);
    const typename Links::Sender sender = links_.sender(run);
    for (const std::uint32_t op : order) {
      OpState& state = run.ops[op];
      Ticks& free = device_free_[state.device];
      state.start = std::max(state.start, free);
      const Ticks end = state.end();
      free = end;
      sender.template send<Record>(state, end, [](std::uint32_t, OpState& consumer, Ticks time) {
        consumer.start = std::max(consumer.start, time);
      });
    }
    run.makespan = *std::max_element(device_free_.begin(), device_free_.end());
  }

  Links links_;
  std::vector<Ticks> device_free_;  // D
};

class GeneralInOrder final : public Core {
 public:
  explicit GeneralInOrder(const Layout& layout)
      : links_(layout),
        device_free_(layout.network.devices),
        next_(layout.network.devices),
        last_(layout.network.devices),
        own_order_(layout.problem.op_count()) {
    waiting_.reserve(layout.problem.tensor_count());
    devices_to_try_.reserve(layout.problem.op_count() + layout.network.devices);
  }

  void simulate(Run& run, const std::vector<std::uint32_t>& order, bool record) override {
    record ? walk<true>(run, order) : walk<false>(run, order);
  }

 private:
  template <bool Record>
  void walk(Run& run, const std::vector<std::uint32_t>& order) {
    links_.reset();
    waiting_.clear();
    std::fill(device_free_.begin(), device_free_.end(), 0);
    split(run, order);
    const auto arrive = [&](std::uint32_t, OpState& consumer, Ticks time) {
      consumer.start = std::max(consumer.start, time);
      if (--consumer.missing == 0) devices_to_try_.push_back(consumer.device);
    };
    for (std::uint32_t device = 0; device < next_.size(); ++device) devices_to_try_.push_back(device);
    while (true) {
      while (!devices_to_try_.empty()) {
        const std::uint32_t device = devices_to_try_.back();
        devices_to_try_.pop_back();
        while (next_[device] != last_[device] && run.ops[own_order_[next_[device]]].missing == 0) {
          OpState& state = run.ops[own_order_[next_[device]++]];
          state.start = std::max(state.start, device_free_[device]);
          const Ticks end = device_free_[device] = state.end();
          links_.template send<Record>(run, state, end, arrive,
                                       [&](std::uint32_t tensor) { waiting_.push(WideKey(end) << 32 | tensor); });
        }
      }
      // All ops that have not started yet wait for a deferred send, so no earlier request can appear.
      if (waiting_.empty()) break;
      const auto tensor = static_cast<std::uint32_t>(waiting_.top());
      waiting_.replace_top(KeyHeap<WideKey>::none);
      links_.template send_deferred<Record>(run, tensor, arrive);
    }
    run.makespan = *std::max_element(device_free_.begin(), device_free_.end());
  }

  // The given order restricted to each device: own_order_[next_[d] .. last_[d]).
  void split(const Run& run, const std::vector<std::uint32_t>& order) {
    std::fill(last_.begin(), last_.end(), 0);
    for (const OpState& state : run.ops) ++last_[state.device];
    std::uint32_t begin = 0;
    for (std::size_t device = 0; device < next_.size(); ++device) {
      next_[device] = begin;
      begin += std::exchange(last_[device], begin);
    }
    for (const std::uint32_t op : order) own_order_[last_[run.ops[op].device]++] = op;
  }

  GeneralLinks links_;
  std::vector<Ticks> device_free_;          // D
  std::vector<std::uint32_t> next_, last_;  // D
  std::vector<std::uint32_t> own_order_;    // N
  std::vector<std::uint32_t> devices_to_try_;
  KeyHeap<WideKey> waiting_;  // (op's end, tensor)
};

}  // namespace

std::unique_ptr<Core> make_in_order_core(const Layout& layout) {
  if (layout.network.private_pairs) return std::make_unique<PlainInOrder<PrivateLinks>>(layout);
  if (layout.network.one_line) return std::make_unique<PlainInOrder<LineLinks>>(layout);
  return std::make_unique<GeneralInOrder>(layout);
}

}  // namespace emplace::simulate
