// GDP's input features (docs/papers/gdp.md, section 2.1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emplace/base/error.hpp"
#include "policy/common/op_features.hpp"
#include "policy/gdp/features.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::policy::gdp_features_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(GdpFeatures, ReadsHowFarOffTheFirstPredecessorsStand) {
  const Problem p =
      tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}}, {{0, 3}, {1, 3}, {0, 2}}, 1);
  const PolicyProblem problem{&p, make_grouping(p, GroupingKind::op)};
  const GdpFeatures features = gdp_features(problem, std::vector<std::string>{""}, {});
  const auto row = std::span(features.rows).subspan(3 * 9 + gdp_dimensions, gdp_predecessors);
  EXPECT_THAT(row, ElementsAre(-0.75F, -0.5F, 0, 0, 0));
  EXPECT_THAT(features.neighbours[0], ElementsAre(2, 3));
  EXPECT_THAT(features.neighbours[3], ElementsAre(0, 1));
}

TEST(GdpFeatures, ReadsTheLastDimensionsOfTheFirstOutput) {
  const Problem p = tiny(plain_devices(1), {{"a", {1}}, {"b", {1}}}, {}, 1);
  OutputShapes shapes;
  shapes.add_op();
  shapes.add_output(std::vector<std::int64_t>{7, 3});
  shapes.add_output(std::vector<std::int64_t>{1});
  shapes.add_op();
  shapes.add_output(std::vector<std::int64_t>{9, 1, 2, 3, 4});
  PolicyProblem problem{&p, make_grouping(p, GroupingKind::op)};
  problem.shapes = shapes;
  GdpFeatureOptions options;
  options.neighbours = false;
  const std::vector<float> rows = gdp_features(problem, {}, options).rows;
  const auto log1p = [](double x) { return static_cast<float>(std::log1p(x)); };
  EXPECT_THAT(rows, ElementsAre(0, 0, log1p(7), log1p(3), log1p(1), log1p(2), log1p(3), log1p(4)));
}

TEST(GdpFeatures, ReadsTimesBesideTheMeanOnEachKindOfDevice) {
  std::vector<Device> devices = {{"cpu:0", "cpu", no_memory_limit}, {"gpu:0", "gpu", no_memory_limit}};
  const Problem p = tiny(devices, {{"a", {4, 1}}, {"b", {12, no}}}, {}, 1);
  const PolicyProblem problem{&p, make_grouping(p, GroupingKind::op)};
  EXPECT_THAT(device_kinds_of({&problem, 1}), ElementsAre("cpu", "gpu"));
  const std::vector<float> rows = gdp_features(problem, {}, {.neighbours = false, .kinds = {"cpu", "gpu", "tpu"}}).rows;
  EXPECT_FLOAT_EQ(rows[4], std::log(0.5F));
  EXPECT_FLOAT_EQ(rows[5], 0);  // the only one that runs there
  EXPECT_FLOAT_EQ(rows[7 + 4], std::log(1.5F));
  EXPECT_FLOAT_EQ(rows[7 + 5], 0);
  EXPECT_FLOAT_EQ(rows[6], 0);  // no such device
}

TEST(GdpFeatures, NamesAFeatureThatIsNotFinite) {
  const Problem p = chain_5(2);
  const PolicyProblem problem{&p, make_grouping(p, GroupingKind::op)};
  std::vector<float> rows(10, 1.0F);
  check_features(problem, "shape", rows, 2, 1, 1);
  rows[5] = std::nanf("");
  try {
    check_features(problem, "shape", rows, 2, 1, 1);
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("problem tiny: op 'c' has a shape feature of nan"));
  }
}

}  // namespace
}  // namespace emplace::policy::gdp_features_test
