#include <gtest/gtest.h>

#include "tests/zoo/figures.hpp"

namespace emplace::zoo::resnet_test {
namespace {

// torchvision's documentation of its weights: parameters without running statistics, GMACs at 224 x 224.
struct Published {
  const char* name;
  std::int64_t parameters;
  double multiply_adds;
};
constexpr Published published[] = {
    {"resnet-50", 25557032, 4.09e9}, {"resnet-101", 44549160, 7.80e9}, {"resnet-152", 60192808, 11.51e9}};

TEST(Resnet, HasThePublishedParametersAndMultiplyAdds) {
  for (const Published& model : published) {
    const Graph graph = build_zoo_model(std::string(model.name) + "?batch=1");
    EXPECT_EQ(trainable_parameters(graph), model.parameters) << model.name;
    EXPECT_NEAR(multiply_adds(graph), model.multiply_adds, 0.02 * model.multiply_adds) << model.name;
  }
}

TEST(Resnet, HasTheConvolutionsThatItsNameCounts) {
  // The name counts the classifier and leaves the four projections of shortcuts out: 50 = 49 + 1, so 53 convolutions.
  EXPECT_EQ(count_of(build_zoo_model("resnet-50?batch=1"), "Conv"), 50U - 1 + 4);
  EXPECT_EQ(count_of(build_zoo_model("resnet-101?batch=1"), "Conv"), 101U - 1 + 4);
  EXPECT_EQ(count_of(build_zoo_model("resnet-152?batch=1"), "Conv"), 152U - 1 + 4);
}

TEST(Resnet, HasTheGridSizesOfThePaper) {
  // Table 1: 112, 56, 28, 14, 7.
  const Graph graph = build_zoo_model("resnet-50?batch=2");
  EXPECT_EQ(shape_called(graph, "stem/relu"), Shape({2, 64, 112, 112}));
  EXPECT_EQ(shape_called(graph, "stage1/block3/relu"), Shape({2, 256, 56, 56}));
  EXPECT_EQ(shape_called(graph, "stage2/block4/relu"), Shape({2, 512, 28, 28}));
  EXPECT_EQ(shape_called(graph, "stage3/block6/relu"), Shape({2, 1024, 14, 14}));
  EXPECT_EQ(shape_called(graph, "stage4/block3/relu"), Shape({2, 2048, 7, 7}));
}

}  // namespace
}  // namespace emplace::zoo::resnet_test
