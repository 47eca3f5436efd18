#include <gtest/gtest.h>

#include "graph/ops/op_table.hpp"
#include "zoo/zoo.hpp"

namespace emplace::zoo::inception_v3_test {
namespace {

// Szegedy et al. 2016 and the released models: 23.8 M parameters, 5.7 GMACs for one image of 299 x 299.
TEST(InceptionV3, HasThePublishedParametersAndMultiplyAdds) {
  const Graph graph = build_zoo_model("inception-v3?batch=1");
  const GraphStatistics sums = statistics(graph);
  EXPECT_NEAR(static_cast<double>(sums.parameters), 23.8e6, 0.02 * 23.8e6);
  EXPECT_NEAR(sums.flops / 2, 5.7e9, 0.02 * 5.7e9);
  std::int64_t trainable = 0;
  for (const GraphParameter& parameter : graph.parameters)
    if (parameter.trainable) trainable += *parameter.shape.elements();
  // torchvision.models.inception_v3(aux_logits=False): 23,834,568 without the running statistics.
  EXPECT_EQ(trainable, 23834568);
}

TEST(InceptionV3, HasTheGridSizesOfThePaper) {
  // Table 1: the inputs of the three kinds of modules are 35 x 35 x 288, 17 x 17 x 768 and 8 x 8 x 2048.
  const Graph graph = build_zoo_model("inception-v3?batch=1");
  const auto shape_of = [&](const std::string& name) {
    for (const GraphTensor& tensor : graph.tensors)
      if (tensor.name == name) return tensor.shape;
    return Shape{};
  };
  EXPECT_EQ(shape_of("MaxPool_5a"), Shape({1, 192, 35, 35}));
  EXPECT_EQ(shape_of("Mixed_5d/concat"), Shape({1, 288, 35, 35}));
  EXPECT_EQ(shape_of("Mixed_6e/concat"), Shape({1, 768, 17, 17}));
  EXPECT_EQ(shape_of("Mixed_7a/concat"), Shape({1, 1280, 8, 8}));
  EXPECT_EQ(shape_of("Mixed_7c/concat"), Shape({1, 2048, 8, 8}));
}

TEST(InceptionV3, ScalesItsFlopsWithTheBatchAndNotItsParameters) {
  const GraphStatistics one = statistics(build_zoo_model("inception-v3?batch=1"));
  const GraphStatistics eight = statistics(build_zoo_model("inception-v3?batch=8"));
  EXPECT_DOUBLE_EQ(eight.flops, 8 * one.flops);
  EXPECT_EQ(eight.parameters, one.parameters);
}

}  // namespace
}  // namespace emplace::zoo::inception_v3_test
