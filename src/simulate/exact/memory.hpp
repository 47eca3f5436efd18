// Peak memory of a simulated run (R5), exact, without sorting everything: levels at the borders of time buckets are
// exact, and only buckets that could hold the peak are looked into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

// What one device sent to another.
struct Traffic {
  Ticks busy;
  Bytes bytes;
};

class Memory {
 public:
  explicit Memory(const Layout& layout);

  // One value a device each, of a run that has recorded its sends. Upper bounds of the peaks, from sums in time
  // buckets:
  const std::vector<Bytes>& bound(const Run& run);
  // The exact peaks, and the traffic.
  const std::vector<Bytes>& exact(const Run& run);
  // D x D, of the last exact().
  [[nodiscard]] const std::vector<Traffic>& traffic() const { return traffic_; }

 private:
  // A time bucket of a device.
  struct Bucket {
    Bytes change;     // allocations - frees
    Bytes allocated;  // allocations only
  };
  struct Change {
    std::uint32_t slot;  // 2 x bucket, + 1 for an allocation: frees come first at one instant
    Ticks time;
    Bytes bytes;  // below 0: given back
  };

  // Sums all changes into the buckets; with Keep also writes them down, and the traffic.
  template <bool Keep>
  void sum(const Run& run);
  template <bool Keep>
  class Sink;
  // Bounds of the peaks from the sums, one from above, one from below.
  void bound_levels();
  void mark_suspects();

  const Layout& layout_;
  std::vector<Bytes> at_start_;  // N: outputs and scratch
  std::vector<Bytes> at_end_;    // N: scratch and outputs without consumers
  std::size_t most_buckets_;     // a device
  std::size_t buckets_ = 0;      // a device, in use
  unsigned shift_ = 0;           // bucket of a time = time >> shift_
  std::vector<Bucket> sums_;     // most_buckets x D: what happens at one time lies together
  std::vector<char> suspect_;    // most_buckets x D
  std::vector<Bytes> resident_;  // D
  std::vector<Bytes> level_;     // D
  std::vector<Bytes> peak_;      // D
  std::vector<Bytes> lowest_;    // D: a level that is surely reached
  std::vector<Ticks> last_use_;  // D: of the tensor at hand
  std::vector<Traffic> traffic_;
  // All changes; not vectors, so that their pages stay untouched, and cost nothing, where no exact peak is ever wanted.
  const std::unique_ptr<std::uint32_t[]> slots_;
  const std::unique_ptr<Ticks[]> times_;
  const std::unique_ptr<Bytes[]> bytes_;
  std::size_t changes_ = 0;
  std::vector<Change> suspected_;  // those in suspected buckets
};

}  // namespace emplace::simulate
