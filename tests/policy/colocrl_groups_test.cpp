// ColocRL's co-location groups on public problem files (docs/papers/colocrl.md, section 7.1).
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "emplace/problem/grouping.hpp"
#include "formats/workload/workload.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::policy::colocrl_groups_test {
namespace {

// An op joins its only consumer, so each op with two consumers, or none, ends a group: 0, 4 and 7.
TEST(ColocrlGroups, AreAsManyAsOpsWithoutAnOnlyConsumer) {
  test::Partitioning file = test::chain_of(std::vector<double>(8, 1));
  file.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}, {4, 6}, {5, 7}, {6, 7}};
  EXPECT_EQ(make_grouping(file.problem(), GroupingKind::colocrl).count(), 3U);
}

TEST(ColocrlGroups, AreAsManyAsPublishedOnPublicProblemFiles) {
  const std::string folder = test::outside_file("workloads/dnn-partitioning/throughput-inputs/");
  REQUIRE_OUTSIDE_FILE(folder);
  const std::pair<const char*, std::size_t> rows[] = {
      {"LayerGraphs/bert24_inference", 5},        {"LayerGraphs/bert24_training", 10},
      {"LayerGraphs/resnet50_inference", 18},     {"LayerGraphs/resnet50_training", 36},
      {"OperatorGraphs/bert_l-3_inference", 56},  {"OperatorGraphs/bert_l-6_inference", 98},
      {"OperatorGraphs/bert_l-12_inference", 182}};
  for (const auto& [name, groups] : rows) {
    const std::string file = folder + name + ".json";
    Problem problem = formats::read_problem_text(read_file(file), file);
    problem.group.assign(problem.op_count(), GroupId{});  // the expected counts are without constraints
    EXPECT_EQ(make_grouping(problem, GroupingKind::colocrl).count(), groups) << name;
  }
}

}  // namespace
}  // namespace emplace::policy::colocrl_groups_test
