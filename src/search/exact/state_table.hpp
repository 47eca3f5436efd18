// A table of the states that a search has visited, of a fixed size: if it is full, older states are overwritten.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "emplace/base/types.hpp"

namespace emplace::search {

// A state is identified by a hash of 128 bits: among 2^30 states the chance that two different ones have the same hash
// is below 2^-68.
struct StateKey {
  std::uint64_t low, high;
  friend bool operator==(const StateKey&, const StateKey&) = default;
};

class StateTable {
 public:
  explicit StateTable(std::size_t bytes) {
    std::size_t count = ways;
    while (2 * count * sizeof(Entry) <= bytes) count *= 2;
    // calloc gets zeroed pages from the system: pages that a short search does not reach cost nothing.
    entries_.reset(static_cast<Entry*>(std::calloc(count, sizeof(Entry))));
    if (!entries_) throw std::bad_alloc();
    mask_ = count - ways;
  }

  // Returns true if the table has the state with a value of at most `value`; otherwise stores it with `value`.
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
    Ticks value;  // the stored value + 1; 0: empty
  };
  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  std::unique_ptr<Entry[], Free> entries_;
  std::uint64_t mask_ = 0;
};

}  // namespace emplace::search
