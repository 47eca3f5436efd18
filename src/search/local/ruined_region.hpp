// The destructive half of ruin and recreate: which units of a placement go to other devices, and to which.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::search {

// How a region is chosen and changed. Each combination counts how often it helped.
struct RuinKind {
  // Units that exchange tensors, or units that follow each other on the critical path.
  enum class Region : std::uint8_t { neighbours, path } region;
  // All units to one device; those of two devices change places; each to a device of one of its neighbours.
  enum class Change : std::uint8_t { gather, exchange, scatter } change;
  std::uint32_t most;  // units of the region, at most
};

// Chooses among the kinds, each in proportion to how often it led to a better placement (adaptive large neighbourhood
// search: Ropke, Pisinger 2006).
class RuinChoice {
 public:
  RuinChoice();

  std::size_t draw(Stream& random);
  void report(std::size_t kind, bool helped);
  [[nodiscard]] const RuinKind& kind(std::size_t index) const { return kinds_[index]; }

 private:
  static constexpr std::array<std::uint32_t, 3> sizes_ = {8, 24, 64};

  std::vector<RuinKind> kinds_;
  std::vector<std::uint64_t> tried_, helped_;
};

// Draws regions of one problem's units and changes them. The problem and the units must outlive it.
class RegionRuin {
 public:
  RegionRuin(const Problem& problem, const Grouping& units);

  // Draws a region that begins with the first of `path`, the rest of the critical path (none: anywhere), and puts its
  // units on other devices in `placement`. Returns the region; it is empty if nothing changed.
  std::span<const std::uint32_t> ruin(Placement& placement, std::span<const std::uint32_t> path, const RuinKind& kind,
                                      Stream& random);

 private:
  template <class Visit>
  void visit_neighbours(std::uint32_t unit, Visit&& visit) const;
  void draw_region(std::span<const std::uint32_t> path, const RuinKind& kind, Stream& random);
  void add(std::uint32_t unit);
  [[nodiscard]] std::uint8_t device_of(const Placement& placement, std::uint32_t unit) const {
    return placement.device[units_.members[unit].front()];
  }
  // A device of a neighbour of the unit, other than `home`; `home` if there is none.
  [[nodiscard]] std::uint8_t near_device(const Placement& placement, std::uint32_t unit, std::uint8_t home,
                                         Stream& random) const;
  [[nodiscard]] std::uint32_t any_of_region(Stream& random) const {
    return region_[random.below(static_cast<std::uint32_t>(region_.size()))];
  }

  const Problem& problem_;
  const Grouping& units_;
  std::vector<std::uint32_t> region_;
  std::vector<std::uint32_t> seen_;  // U: serial_ if the unit is in the region
  std::uint32_t serial_ = 0;
};

}  // namespace emplace::search
