// ColocRL's rule 3: time steps and convolution blocks, found by names.
#include "problem/model_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/problem/builder.hpp"
#include "emplace/problem/grouping.hpp"

namespace emplace::model_blocks_test {
namespace {

using ::testing::ElementsAre;

struct TypedOp {
  const char *name, *type;
};

// Ops of 1 s on two devices; each edge is a tensor of its own.
Problem typed(const std::vector<TypedOp>& ops, const std::vector<std::pair<std::size_t, std::size_t>>& edges) {
  ProblemBuilder builder("typed");
  for (const char* device : {"gpu:0", "gpu:1"}) builder.add_device({device, "gpu", no_memory_limit});
  for (const TypedOp& each : ops) {
    OpSpec op;
    op.name = each.name;
    op.type = each.type;
    op.seconds = {1, 1};
    builder.add_op(std::move(op));
  }
  for (const auto& [from, to] : edges) builder.add_tensor(OpId{from}, 4, {OpId{to}});
  return builder.build("typed");
}

TEST(ModelBlocks, AreTimeStepsWithTheirGradientsAndUpdates) {
  const Problem p = typed({{"lstm/0/step3/matmul", "MatMul"},
                           {"framework/lstm/0/step3/keep/12", "Identity"},
                           {"grad/lstm/0/step3/matmul#1", "MatMul"},
                           {"lstm/0/step30/matmul", "MatMul"},
                           {"encoder/0/forward/step3/cell", "Add"},
                           {"lstm/0/stepping/matmul", "MatMul"},
                           {"update/lstm/0/weight", "ApplyGradientDescent"}},
                          {});
  EXPECT_THAT(model_blocks(p), ElementsAre("lstm/0/step3", "lstm/0/step3", "lstm/0/step3", "lstm/0/step30",
                                           "encoder/0/forward/step3", "", ""));
}

TEST(ModelBlocks, AreConvolutionsWithWhatFollowsThem) {
  // Mixed/a has one convolution; Mixed has two of its own, of which the second is followed by a pooling.
  const Problem p = typed({{"Mixed/a/conv", "Conv"},
                           {"Mixed/a/bn", "BatchNormalization"},
                           {"variable/Mixed/a/conv/weight", "Variable"},
                           {"grad/Mixed/a/bn#0", "BatchNormalizationGrad"},
                           {"/Mixed/b", "Conv"},
                           {"/Mixed/c", "Conv"},
                           {"pool", "MaxPool"},
                           {"relu", "Relu"},
                           {"grad/relu#0", "ReluGrad"},
                           {"concat", "Concat"},
                           {"after", "Relu"}},
                          {{0, 1}, {5, 6}, {6, 7}, {1, 9}, {7, 9}, {9, 10}});
  EXPECT_THAT(model_blocks(p), ElementsAre("Mixed/a", "Mixed/a", "Mixed/a", "Mixed/a", "Mixed/b", "Mixed/c", "Mixed/c",
                                           "Mixed/c", "Mixed/c", "", ""));
}

TEST(ModelBlocks, AreUnitsBeforeOpsJoinTheirOnlyConsumers) {
  // Without names b has two consumers and ends a group.
  const std::vector<TypedOp> ops = {
      {"rnn/step0/a", "Add"}, {"rnn/step0/b", "Add"}, {"c", "Add"}, {"rnn/step0/d", "Add"}};
  const std::vector<std::pair<std::size_t, std::size_t>> edges = {{0, 1}, {1, 2}, {1, 3}};
  EXPECT_EQ(make_grouping(typed(ops, edges), GroupingKind::colocrl).count(), 3U);
  EXPECT_THAT(make_grouping(typed(ops, edges), GroupingKind::colocrl_blocks).unit_of_op, ElementsAre(0, 0, 1, 0));
}

TEST(ModelBlocks, LeaveOutOpsThatTheirOthersCannotJoin) {
  ProblemBuilder builder("two kinds");
  for (const char* device : {"cpu:0", "gpu:0"}) builder.add_device({device, device, no_memory_limit});
  const double none = std::nan("");
  for (const auto& [name, seconds] : {std::pair<const char*, std::vector<double>>{"rnn/step0/a", {1, none}},
                                      {"rnn/step0/b", {none, 1}},
                                      {"rnn/step0/c", {1, 1}}}) {
    OpSpec op;
    op.name = name;
    op.seconds = seconds;
    builder.add_op(std::move(op));
  }
  EXPECT_THAT(make_grouping(builder.build("two kinds"), GroupingKind::colocrl_blocks).unit_of_op, ElementsAre(0, 1, 0));
}

}  // namespace
}  // namespace emplace::model_blocks_test
