// ColocRL's co-location groups on public problem files (docs/papers/colocrl.md, section 7.1).
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "emplace/problem/grouping.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::policy::colocrl_groups_test {
namespace {

TEST(ColocrlGroups, AreAsManyAsPublishedOnPublicProblemFiles) {
  const std::string folder = "../shared/workloads/dnn-partitioning/throughput-inputs/";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
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
