#include <gtest/gtest.h>

#include "emplace/source/load_problem.hpp"

namespace emplace::experiment::expert_test {
namespace {

std::uint8_t of(const source::LoadedProblem& loaded, const std::string& op) {
  for (std::size_t i = 0; i < loaded.problem.op_count(); ++i)
    if (loaded.problem.op_names[i] == op) return loaded.problem.expert.at(i);
  ADD_FAILURE() << "no op " << op;
  return 0;
}

const std::string rnnlm = "zoo:rnnlm?layers=4&sequence=2&hidden=8&vocabulary=20&training=true";

TEST(ExpertDevices, SpreadTheLayersOfAZooModelOverTheGpus) {
  // k40x2: cpu:0, gpu:0, gpu:1. Layers 0 and 2 on the first GPU, 1 and 3 on the second.
  const source::LoadedProblem loaded = source::load_problem(rnnlm + "@k40x2", {});
  ASSERT_EQ(loaded.problem.expert.size(), loaded.problem.op_count());
  std::vector<std::size_t> ops(3, 0);
  for (const std::uint8_t device : loaded.problem.expert) ++ops.at(device);
  EXPECT_EQ(ops[0], 0u);
  EXPECT_GT(ops[1], loaded.problem.op_count() / 3);
  EXPECT_GT(ops[2], loaded.problem.op_count() / 3);
}

TEST(ExpertDevices, FollowLayersThroughPasses) {
  source::SourceOptions options;
  options.roofline.contract = "layers";
  const source::LoadedProblem loaded = source::load_problem(rnnlm + "@k40x2", options);
  EXPECT_EQ(of(loaded, "lstm/0"), 1);
  EXPECT_EQ(of(loaded, "lstm/1"), 2);
  EXPECT_EQ(of(loaded, "lstm/2"), 1);
  EXPECT_EQ(of(loaded, "softmax"), 2) << "with the last layer";
}

TEST(ExpertDevices, AreUnknownOfProblemsFromFiles) {
  const source::LoadedProblem loaded = source::load_problem("tests/fuzz/seeds/problem/chain.json", {});
  EXPECT_TRUE(loaded.problem.expert.empty());
}

}  // namespace
}  // namespace emplace::experiment::expert_test
