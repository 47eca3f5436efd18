// States that a search has been in, within a fixed memory: where it is full, older ones are forgotten.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "emplace/base/units.hpp"

namespace emplace::search {

// A state is known by 128 bits of its content: with 2^30 states the chance that two different ones are ever taken for
// the same is below 2^-68.
struct StateKey {
  std::uint64_t low, high;
  friend bool operator==(const StateKey&, const StateKey&) = default;
};

class StateTable {
 public:
  explicit StateTable(std::size_t bytes) {
    std::size_t count = ways;
    while (2 * count * sizeof(Entry) <= bytes) count *= 2;
    // Zeros straight from the system: pages that a short search does not reach cost nothing.
    entries_.reset(static_cast<Entry*>(std::calloc(count, sizeof(Entry))));
    if (!entries_) throw std::bad_alloc();
    mask_ = count - ways;
  }

  // True if the state was there with a value of at most `value`; else it is now there with `value`.
  bool seen(const StateKey& key, Ticks value) {
    Entry* const bucket = entries_.get() + (key.low & mask_);
    const Ticks stored = value + 1;
    for (std::size_t i = 0; i < ways; ++i) {
      if (bucket[i].value == 0 || !(bucket[i].key == key)) continue;
      if (bucket[i].value <= stored) return true;
      bucket[i].value = stored;
      return false;
    }
    for (std::size_t i = 0; i < ways; ++i)
      if (bucket[i].value == 0) {
        bucket[i] = {key, stored};
        return false;
      }
    bucket[key.high % ways] = {key, stored};
    return false;
  }

 private:
  static constexpr std::size_t ways = 4;
  struct Entry {
    StateKey key;
    Ticks value;  // one more than it is; 0: nothing here
  };
  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  std::unique_ptr<Entry[], Free> entries_;
  std::uint64_t mask_ = 0;
};

}  // namespace emplace::search
