// Serving problems as policies see them, and the evaluator of their placements.
#include "serving/stage_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "serving/cluster_json.hpp"
#include "serving/flow.hpp"
#include "serving/stage_evaluator.hpp"
#include "tests/serving/clusters.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::stage_problem_test {
namespace {

using serving::layout_of_devices;
using ::testing::HasSubstr;

using Devices = std::vector<std::uint8_t>;

TEST(StageProblem, HasANodeForEachOpAndAStageForEachDevice) {
  // Four nodes hold 6 of the 5 layers; one pipeline of mean nodes has 5 / 1.5 stages, twice as many are more than
  // nodes.
  const Cluster cluster = cluster_of(5, {{90, 60}, {90, 60}, {25}, {25}});
  const Problem problem = serving::stage_problem(cluster, "four");
  EXPECT_EQ(problem.op_names, (std::vector<std::string>{"n0", "n1", "n2", "n3"}));
  ASSERT_EQ(problem.device_count(), 5U);
  EXPECT_EQ(problem.devices.back().name, "unused");
  // With 5 layers in 4 stages, a node has two layers if it holds as many: 1 / 60 s a token, or 1 / 25 s.
  EXPECT_EQ(problem.op_time[0], ticks_of_seconds(1.0 / 60));
  EXPECT_EQ(problem.op_time[2 * 5], ticks_of_seconds(1.0 / 25));
}

TEST(StageProblem, GivesTheStagesTheirLayersInTheOrderOfTheDevices) {
  const Cluster cluster = cluster_of(5, {{90, 60}, {90, 60}, {25}, {25}});
  // n1, then n2 with n3, then n0: 2 + 1 + 2 layers.
  EXPECT_EQ(layout_of_devices(cluster, Devices{3, 0, 1, 1}), (Layout{{3, 5}, {0, 2}, {2, 3}, {2, 3}}));
  // Device 4 is that of nodes without layers; what is left holds the model as well.
  EXPECT_EQ(layout_of_devices(cluster, Devices{3, 0, 1, 4}), (Layout{{3, 5}, {0, 2}, {2, 3}, {0, 0}}));
}

TEST(StageProblem, DividesStagesThatCannotHoldTheModel) {
  // All in one stage hold 1 layer. By the layers that they hold: the slow ones 1, the fast ones 2, 3 of 5. Single
  // nodes: 6 layers, of which one is too many.
  const Cluster cluster = cluster_of(5, {{90, 60}, {90, 60}, {25}, {25}});
  const Layout layout = layout_of_devices(cluster, Devices{0, 0, 0, 0});
  EXPECT_EQ(serving::FlowEvaluator(cluster).throughput(layout), 25 * token);
  // With 3 layers the second way is enough.
  const Cluster smaller = cluster_of(3, {{90, 60}, {90, 60}, {25}, {25}});
  EXPECT_EQ(serving::FlowEvaluator(smaller).throughput(layout_of_devices(smaller, Devices{0, 0, 0, 0})), 50 * token);
  // Nodes without layers are not brought back.
  EXPECT_EQ(layout_of_devices(cluster, Devices{4, 4, 4, 4}), Layout(4));
}

TEST(StageProblem, OfRandomClustersGivesLayoutsThatHoldTheModelOrNothing) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Cluster cluster = random_cluster(seed, 8, 9);
    const Problem problem = serving::stage_problem(cluster, "random");
    Stream stream({.seed = seed, .purpose = Purpose::test, .update = 1});
    Devices devices;
    for (std::size_t n = 0; n < cluster.size(); ++n)
      devices.push_back(static_cast<std::uint8_t>(stream.below(static_cast<std::uint32_t>(problem.device_count()))));
    const Layout layout = layout_of_devices(cluster, devices);
    std::vector<int> held(cluster.layers, 0);
    for (std::size_t n = 0; n < cluster.size(); ++n) {
      ASSERT_LE(layout[n].size(), cluster.most(n));
      for (Layers layer = layout[n].first; layer < layout[n].end; ++layer) ++held[layer];
    }
    const auto missing = std::ranges::count(held, 0);
    EXPECT_TRUE(missing == 0 || missing == static_cast<std::ptrdiff_t>(cluster.layers)) << "seed " << seed;
  }
}

class StageEvaluator : public ::testing::Test {
 protected:
  StageEvaluator() {
    serving::register_stage_evaluator();
    write_file(file_, R"({"layers": 2, "nodes": [{"name": "a", "max_layers": 1, "tokens_per_s": [40]},
      {"name": "b", "max_layers": 2, "tokens_per_s": [50, 20]}], "links": [
      {"from": "source", "to": "a", "tokens_per_s": 99}, {"from": "source", "to": "b", "tokens_per_s": 99},
      {"from": "a", "to": "b", "tokens_per_s": 30}, {"from": "b", "to": "sink", "tokens_per_s": 99}]})");
  }
  [[nodiscard]] std::unique_ptr<evaluate::Evaluator> evaluator(const Problem& problem) const {
    const Problem* problems[] = {&problem};
    ConfigTable options("test");
    options.set("cluster", {file_, "test"});
    return evaluate::make_evaluator({"serving", options}, {problems, {}});
  }
  TemporaryFolder folder_;
  std::string file_ = folder_ / "cluster.json";
};

TEST_F(StageEvaluator, GivesTheTimeOfAToken) {
  const Problem problem = serving::stage_problem(serving::read_cluster_file(file_), "two");
  const auto judge = evaluator(problem);
  // a before b: the link lets 30 tokens/s through. b alone passes 20. b before a: a has no link to the sink.
  const Placement ab{{0, 1}, {}}, b{{2, 0}, {}}, ba{{1, 0}, {}};
  std::string message;
  const evaluate::EvaluationJob jobs[] = {
      {.placement = &ab}, {.placement = &b}, {.placement = &ba, .message = &message}};
  const std::vector<Outcome> outcomes = judge->evaluate(jobs);
  EXPECT_EQ(outcomes[0].makespan, ticks_of_seconds(1.0 / 30));
  EXPECT_EQ(outcomes[1].makespan, ticks_of_seconds(1.0 / 20));
  EXPECT_EQ(outcomes[2].why, Infeasible::not_measured);
  EXPECT_EQ(message, "no tokens pass");
}

TEST_F(StageEvaluator, RefusesAProblemOfOtherNodes) {
  const Problem other = serving::stage_problem(cluster_of(2, {{5, 5}, {5, 5}, {5, 5}}), "three");
  try {
    (void)evaluator(other);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has 2 nodes, but the problem 'three' has 3 ops"));
  }
}

}  // namespace
}  // namespace emplace::test::stage_problem_test
