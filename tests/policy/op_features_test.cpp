#include "policy/common/op_features.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "policy/colocrl/features.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::op_features_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::FloatNear;
using ::testing::Pointwise;

OutputShapes shapes(const std::vector<std::vector<std::vector<std::int64_t>>>& ops) {
  OutputShapes all;
  for (const auto& outputs : ops) {
    all.add_op();
    for (const auto& output : outputs) all.add_output(output);
  }
  return all;
}

TEST(OpFeatures, ListOutputsByDimensionsAsLogarithms) {
  // Two outputs, 7 x 3 x 1 and 0: slots for two outputs of two dimensions keep 7 x 3 and 0.
  const OutputShapes s = shapes({{{7, 3, 1}, {0}, {9}}});
  std::vector<float> sum(4, 1.0F);
  add_shape_logs(s, 0, {2, 2}, sum);
  EXPECT_THAT(sum, Pointwise(FloatEq(), {1 + std::log(8.0F), 1 + std::log(4.0F), 1.0F, 1.0F}));
}

TEST(OpFeatures, ListNeighboursInTopologicalOrderWithinTheirSlots) {
  // Ids that differ from the order: c(2) -> a(0) -> {b(1), d(3)}, c -> b. Order: c a b d, N = 4.
  const Problem p =
      tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}}, {{2, 0}, {0, 1}, {0, 3}, {2, 1}});
  const std::vector<std::uint32_t> position = topological_positions(p);
  EXPECT_THAT(position, ElementsAre(1, 2, 0, 3));
  std::vector<float> row(4, 7.0F);
  set_neighbour_slots(p, position, 0, 2, row);  // a: producer c; consumers b, d
  EXPECT_THAT(row, ElementsAre(0.25F, 0, 0.75F, 1.0F));
  set_neighbour_slots(p, position, 1, 2, row);  // b: producers c, a
  EXPECT_THAT(row, ElementsAre(0.25F, 0.5F, 0, 0));
  std::vector<float> short_row(2);
  set_neighbour_slots(p, position, 0, 1, short_row);  // one slot each: the first
  EXPECT_THAT(short_row, ElementsAre(0.25F, 0.75F));
}

TEST(OpFeatures, GiveAPlaceAsWavesOfGrowingFrequency) {
  std::vector<float> only(4), second(4);
  set_position_waves(0, 1, only);  // in the middle: pi / 2
  EXPECT_THAT(only, Pointwise(FloatNear(1e-6F), {1.0F, 0.0F, 0.0F, -1.0F}));
  set_position_waves(1, 6, second);  // pi / 4
  const float half = std::sqrt(0.5F);
  EXPECT_THAT(second, Pointwise(FloatNear(1e-6F), {half, half, 1.0F, 0.0F}));
}

TEST(OpFeatures, KnowOnlyTheTypesOfTheTraining) {
  Problem p = fork_join(1);
  p.op_types = {"Relu", "Conv", "Relu", "MatMul"};
  const std::vector<std::string> types = {"Add", "MatMul", "Relu"};
  EXPECT_THAT(type_ids(p, types), ElementsAre(2, no_type, 2, 1));
}

TEST(OpFeatures, OfColocrlGroupsAreSumsAndMutualAdjacency) {
  // fork-join under rule 2: {s}, {a, b, t}; one edge between the groups.
  Problem p = fork_join(1);
  p.op_types = {"Split", "Conv", "Conv", "?"};
  PolicyProblem problem(&p, make_grouping(p, GroupingKind::colocrl));
  problem.shapes = shapes({{{1}}, {{2}}, {{4}}, {}});
  const std::vector<std::string> types = {"Conv", "Split"};
  const ColocrlFeatures features = colocrl_features(problem, types, {1, 1});
  EXPECT_THAT(features.types.begin, ElementsAre(0, 1, 3));
  EXPECT_THAT(features.types.items, ElementsAre(1, 0, 0)) << "t's type is not known and counts as none";
  // {s}: log 2; {a, b, t}: log 3 + log 5 = log 15. Adjacency: 0 1 / 1 0.
  EXPECT_THAT(features.rows, Pointwise(FloatEq(), {std::log(2.0F), 0.0F, 1.0F, std::log(15.0F), 1.0F, 0.0F}));
}

}  // namespace
}  // namespace emplace::policy::op_features_test
