// Peak memory of a simulated run (R5), exact, without sorting everything: levels at the borders of time buckets are
// exact, and only buckets that could hold the peak are looked into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "layout.hpp"

namespace emplace {

class Memory {
 public:
  explicit Memory(const Layout& layout);

  // For each device an upper bound of its peak, from sums in time buckets. The run must have recorded its sends.
  const std::vector<Bytes>& bound(const Run& run);
  // After bound() of the same run: the exact peaks, of the devices whose bound exceeds `enough`; bounds elsewhere.
  // `enough` has one value a device.
  const std::vector<Bytes>& exact(const Run& run, const std::vector<Bytes>& enough);

 private:
  struct Bucket {
    Bytes change;     // allocations - frees
    Bytes allocated;  // allocations only
  };
  struct Change {
    Ticks time;
    Bytes bytes;  // below 0: a free
    std::uint32_t device;
  };

  // Calls visit(device, time, bytes) for every allocation (bytes >= 0) and free (bytes <= 0).
  template <class Visit>
  void visit_changes(const Run& run, Visit&& visit);

  const Layout& layout_;
  std::vector<Bytes> at_start_;  // N: outputs and scratch
  std::vector<Bytes> at_end_;    // N: scratch and outputs without consumers
  std::size_t buckets_;          // a device
  unsigned shift_ = 0;           // bucket of a time = time >> shift_
  std::vector<Bucket> sums_;     // D x buckets
  std::vector<Bytes> level_;     // D: resident
  std::vector<Bytes> peak_;      // D
  std::vector<Bytes> lowest_;    // D: a level that is surely reached
  std::vector<Ticks> last_use_;  // D: of the tensor at hand
  std::vector<char> suspect_;    // D x buckets
  std::vector<Change> changes_;  // in suspected buckets
};

}  // namespace emplace
