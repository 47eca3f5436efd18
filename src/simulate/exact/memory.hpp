// Exact peak memory of a simulated run (R5) without sorting all changes: the levels at the borders of time buckets are
// exact, and only the changes in buckets that could contain the peak are sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

// Transfers from one device to another.
struct Traffic {
  Ticks busy;
  Bytes bytes;
};

class Memory {
 public:
  explicit Memory(const Layout& layout);

  // All return D values.
  // Upper bounds of the peaks of a placement, whatever the times are: everything that a device ever holds.
  const std::vector<Bytes>& whatever_the_times(const std::vector<std::uint8_t>& device);
  // The other two are of a run that has recorded its sends. Upper bounds of the peaks, from sums in time buckets:
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
    Bytes bytes;  // below 0: freed
  };

  // Sums all changes in the buckets; with Keep also stores each change, and the traffic.
  template <bool Keep>
  void sum(const Run& run);
  template <bool Keep>
  class Sink;
  // Computes an upper and a lower bound of each peak from the sums.
  void bound_levels();
  void mark_suspects();

  const Layout& layout_;
  std::vector<Bytes> at_start_;        // N: outputs and scratch
  std::vector<Bytes> at_end_;          // N: scratch and outputs without consumers
  std::vector<Bytes> held_;            // N: resident bytes and outputs
  const Bytes most_scratch_;           // of one op
  std::size_t most_buckets_;           // per device
  std::size_t buckets_ = 0;            // per device, in use
  unsigned shift_ = 0;                 // bucket of a time = time >> shift_
  std::vector<Bucket> sums_;           // most_buckets x D: changes at about the same time are adjacent
  std::vector<char> suspect_;          // most_buckets x D
  std::vector<Bytes> resident_;        // D
  std::vector<Bytes> level_;           // D
  std::vector<Bytes> peak_;            // D
  std::vector<Bytes> lowest_;          // D: a level that is certainly reached
  std::vector<Ticks> last_use_;        // D: of the current tensor
  std::vector<std::uint32_t> copied_;  // D: the last tensor that was copied there
  std::vector<Traffic> traffic_;
  // All changes. Not vectors, whose initialisation would touch all pages: these cost nothing until an exact peak is
  // wanted.
  const std::unique_ptr<std::uint32_t[]> slots_;
  const std::unique_ptr<Ticks[]> times_;
  const std::unique_ptr<Bytes[]> bytes_;
  std::size_t changes_ = 0;
  std::vector<Change> suspected_;  // those in suspected buckets
};

}  // namespace emplace::simulate
