// Merges units only where that closes no cycle between them.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "problem/unit_merger.hpp"

namespace emplace {

// The graph of units while they merge. Each unit's consumers stand at its root as ops of theirs; lists of merged units
// are joined, and cleaned of repetitions where they are read. Co-location groups may close cycles of their own (a
// variable with its update, and the whole step between them): where units are on cycles, edges back to one whose first
// op in topological order comes earlier are left out from the start.
class AcyclicMerger {
 public:
  // Changes `units`, which nobody else may merge meanwhile.
  AcyclicMerger(const Problem& problem, UnitMerger& units);

  // The roots of the other units that consume what this one puts out, but for the edges left out.
  const std::vector<std::uint32_t>& consumers(std::uint32_t root);

  // Merges two units, unless no device could run both, together they had more than `most_work` (sum of each op's
  // fastest time, in ticks), or a path through a third unit leads from one to the other, so that a cycle would close.
  // Only units with several ways out need a search for such paths; it is given 1000 passes over the graph in all, and
  // joins that still need one then are refused.
  bool join(std::uint32_t a, std::uint32_t b, double most_work = std::numeric_limits<double>::infinity());

  [[nodiscard]] double total_work() const { return total_work_; }

 private:
  // Is there a path between the two through a third unit?
  bool closes_circle(std::uint32_t a, std::uint32_t b);
  bool has_path_around(std::uint32_t from, std::uint32_t to);

  UnitMerger& units_;
  std::vector<std::vector<std::uint32_t>> after_;
  std::vector<double> work_;
  std::vector<std::uint64_t> mark_;
  std::uint64_t now_ = 0;
  double total_work_ = 0;
  std::size_t visits_left_ = 0;
};

}  // namespace emplace
