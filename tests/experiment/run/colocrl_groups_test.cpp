// ColocRL's groups on the graphs of its own table (configs/tables/colocrl.toml).
#include <gtest/gtest.h>

#include "emplace/problem/grouping.hpp"
#include "emplace/source/load_problem.hpp"

namespace emplace::experiment::colocrl_groups_test {
namespace {

// The paper's network reads the groups one after the other: some hundreds, not the tens of thousands of ops.
TEST(ColocrlGroups, AreSomeHundredsOnTheGraphsOfItsTable) {
  for (const char* graph :
       {"zoo:rnnlm?training=true&detail=framework@k80x2", "zoo:nmt?sequence=40&training=true&detail=framework@k80x2",
        "zoo:inception-v3?training=true&detail=framework@k80x2"}) {
    const Problem problem = source::load_problem(graph, {}).problem;
    const std::size_t groups = make_grouping(problem, GroupingKind::colocrl_blocks).count();
    EXPECT_GE(groups, 100U) << graph;
    EXPECT_LE(groups, 400U) << graph;
  }
}

}  // namespace
}  // namespace emplace::experiment::colocrl_groups_test
