// Packs event keys (time, id) into 64 bits if the times of a run leave enough bits for the ids, and else into 128 bits.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/exact/core.hpp"
#include "simulate/exact/key_heap.hpp"

namespace emplace::simulate {

template <class Key>
struct Packing {
  unsigned id_bits;

  [[nodiscard]] Key key(Ticks time, std::uint32_t id) const { return Key(time) << id_bits | id; }
  [[nodiscard]] std::uint32_t id(Key key) const { return static_cast<std::uint32_t>(key & ((Key{1} << id_bits) - 1)); }
  [[nodiscard]] Key time(Key key) const { return key >> id_bits; }
  // Whether all times fit; `seen` is their bitwise or. One bit is left unused, so that no key is all ones.
  [[nodiscard]] bool fits(Ticks seen) const { return sizeof(Key) > sizeof(Ticks) || seen >> (63 - id_bits) == 0; }
};

template <class Key>
struct EventQueue {
  KeyHeap<Key> heap;
  std::vector<Key> pending;  // has room for every key and for one op that is not ready

  void reserve(std::size_t ids) {
    heap.reserve(ids);
    pending.resize(ids + 1);
  }
};

// A Method has two functions: ids(layout) returns the number of ids that its keys may have; run<Record>(run, order,
// queue, packing) returns false if a time did not fit. In that case every op has run once and ended within the
// problem's totals, but at wrong times.
template <class Method>
class PackedCore final : public Core {
 public:
  explicit PackedCore(const Layout& layout)
      : method_(layout), ids_(Method::ids(layout)), id_bits_(static_cast<unsigned>(std::bit_width(ids_))) {
    narrow_.reserve(ids_);
  }

  void simulate(Run& run, const std::vector<std::uint32_t>& order, bool record) override {
    if (!wide_needed_) {
      if (simulate_with(narrow_, run, order, record)) return;
      wide_needed_ = true;  // for all later runs
      wide_.reserve(ids_);
      run.rewind();
    }
    simulate_with(wide_, run, order, record);
  }

 private:
  template <class Key>
  bool simulate_with(EventQueue<Key>& queue, Run& run, const std::vector<std::uint32_t>& order, bool record) {
    const Packing<Key> packing{id_bits_};
    queue.heap.clear();
    return record ? method_.template run<true>(run, order, queue, packing)
                  : method_.template run<false>(run, order, queue, packing);
  }

  Method method_;
  std::size_t ids_;
  unsigned id_bits_;
  bool wide_needed_ = false;
  EventQueue<std::uint64_t> narrow_;
  EventQueue<WideKey> wide_;
};

}  // namespace emplace::simulate
