#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "tests/zoo/figures.hpp"

namespace emplace::zoo::weight_decay_test {
namespace {

const std::string small = "resnet-50?batch=1&image=32&training=true";

TEST(WeightDecay, AddsALossForEachFilterAndMatrixAndItsGradientToTheirs) {
  const Graph without = build_zoo_model(small), with = build_zoo_model(small + "&weight_decay=true");
  // 53 convolutions and the classifier; scales and biases have one dimension.
  EXPECT_EQ(count_of(with, "L2Loss"), 54U);
  EXPECT_EQ(count_of(with, "L2LossGrad"), 54U);
  EXPECT_EQ(with.parameters.size(), without.parameters.size());
  // The gradient of a weight is a sum of two, and all losses are added to the model's own.
  EXPECT_EQ(count_of(with, "Sum"), count_of(without, "Sum") + 54 + 1);
  for (const GraphOp& op : with.ops)
    if (op.name == "total_loss") {
      EXPECT_EQ(op.inputs.size(), 55U);
      EXPECT_TRUE(with.tensors[op.outputs[0].index()].shape == Shape::scalar());
    }
  // One objective.
  EXPECT_EQ(count_of(with, "OutputGrad"), 1U);
}

TEST(WeightDecay, CostsFourOperationsAWeight) {
  // Square and add; times the scale; added to the other gradient. 23,454,912 weights in filters and 2,048,000 in the
  // classifier; a few numbers per weight for the scalars.
  const double added =
      statistics(build_zoo_model(small + "&weight_decay=true")).flops - statistics(build_zoo_model(small)).flops;
  EXPECT_NEAR(added, 4 * (23454912.0 + 2048000), 1000);
}

TEST(WeightDecay, BelongsToTheCellAndTheLayerOfItsWeight) {
  const std::string options = small + "&weight_decay=true";
  const Graph op = build_zoo_model(options), layer = build_zoo_model(options + "&detail=layer");
  EXPECT_EQ(statistics(layer).flops, statistics(op).flops);
  // The sum is one op more, and so is the gradient of the objective, no longer in the classifier's cell.
  EXPECT_EQ(layer.ops.size(), build_zoo_model(small + "&detail=layer").ops.size() + 2);
  for (const GraphOp& found : op.ops)
    if (found.name == "stage2/block1/2/conv/weight/decay/norm") {
      EXPECT_EQ(found.layer, "stage2/block1");
    }
}

TEST(WeightDecay, IsRefusedOutsideTraining) {
  try {
    (void)build_zoo_model("resnet-50?weight_decay=true");
    ADD_FAILURE() << "no InputError";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("weight_decay belongs to a training step; it needs training=true"));
  }
}

}  // namespace
}  // namespace emplace::zoo::weight_decay_test
