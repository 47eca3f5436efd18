// Merges units, but only if that creates no cycle between units.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/text.hpp"
#include "emplace/problem/problem.hpp"
#include "problem/unit_merger.hpp"

namespace emplace {

// The graph of units while they are merged. The list at a unit's root has one op of each of its consumer units; lists
// of merged units are joined, and repetitions are removed when a list is read. Co-location groups may cause cycles from
// the start (a variable is grouped with its update, and the whole step lies between them). Among units on cycles, edges
// to a unit whose first op in topological order comes earlier are therefore left out.
class AcyclicMerger {
 public:
  // Changes `units`, which must not be merged by any other code meanwhile.
  AcyclicMerger(const Problem& problem, UnitMerger& units);

  // The roots of the other units that consume outputs of this one, without the edges that were left out.
  const std::vector<std::uint32_t>& consumers(std::uint32_t root);

  // Merges two units and returns true. Returns false if no device could run both, if together they had more than
  // `most_work` (sum of each op's fastest time, in ticks), or if a path through a third unit leads from one to the
  // other, so that merging would create a cycle. Only units with several consumer units need a search for such paths;
  // all searches together may take as long as 1000 passes over the graph, and later joins that need one are refused.
  bool join(std::uint32_t a, std::uint32_t b, double most_work = std::numeric_limits<double>::infinity());

  [[nodiscard]] double total_work() const { return total_work_; }

 private:
  // Whether there is a path between the two through a third unit.
  bool closes_cycle(std::uint32_t a, std::uint32_t b);
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
