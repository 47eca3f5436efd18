// The improvements of a search over time, as a CSV of seconds, evaluations and picoseconds (`place --curve`).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/search/placer.hpp"

namespace emplace::app {

class Curve {
 public:
  // The best so far at this time; kept if it is feasible.
  void add(double seconds, std::uint64_t evaluations, const Outcome& best);
  // What the methods of a portfolio reached: their times are exact, those of progress reports 0.1 s apart.
  void add(std::span<const search::PlacerStep> steps);
  // A header and a row for each time at which a shorter step was known than at all times before.
  [[nodiscard]] std::string csv() const;

 private:
  struct Point {
    double seconds;
    std::uint64_t evaluations;
    Ticks makespan;
  };
  std::vector<Point> points_;
};

}  // namespace emplace::app
