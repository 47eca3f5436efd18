// Units: sets of ops that are merged step by step, each with its work and the devices that can run all of it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "emplace/problem/grouping.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace {

// A union-find with path halving and merging by size. A unit is identified by one of its ops, its root.
class UnitMerger {
 public:
  explicit UnitMerger(const Problem& problem);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::uint32_t find(std::uint32_t op) const;
  // Whether there is a device that can run both.
  [[nodiscard]] bool compatible(std::uint32_t root_a, std::uint32_t root_b) const;
  // Merges the two and returns the root of the merged unit.
  std::uint32_t merge(std::uint32_t a, std::uint32_t b);

  // Restricts the unit to this device: from now on it is compatible only with units that can run there.
  void keep_on(std::uint32_t root, std::uint8_t device);

  struct Exchange {
    std::uint32_t other;  // an op of the other unit
    Bytes bytes;
  };
  // Merges the unit of least work (ties: smaller root) with the compatible neighbour that `merging` prefers (ties:
  // smaller root) until `at_most` units remain or nothing can be merged. `exchanges` is indexed by root. `join`, if
  // given, merges two compatible units or refuses to; after a refusal the next neighbour is tried.
  using Join = std::function<bool(std::uint32_t root_a, std::uint32_t root_b)>;
  void merge_until(std::size_t at_most, std::vector<std::vector<Exchange>> exchanges, Merging merging,
                   const Join& join = {});

  // N: units numbered by their first op in `topological`.
  [[nodiscard]] std::vector<std::uint32_t> numbering(const std::vector<std::uint32_t>& topological) const;

 private:
  using DeviceSet = std::array<std::uint64_t, 4>;  // max_devices = 255 bits

  mutable std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> size_;
  std::vector<Ticks> work_;
  std::vector<DeviceSet> devices_;
  std::size_t count_;
};

}  // namespace emplace
