#include "nn/tape/optimizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"

namespace emplace::nn::optimizer_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr float infinity = std::numeric_limits<float>::infinity();

OptimizerOptions options(const char* name) {
  OptimizerOptions o;
  o.optimizer = name;
  o.learning_rate = 0.1;
  o.clip_norm = 0;
  return o;
}

TEST(Adam, TakesItsFirstTwoStepsAsKingmaAndBaDo) {
  // t = 1: m = 0.1 g, v = 0.001 g^2; corrected g and g^2: p -= 0.1 g / (|g| + 1e-8) = 0.1 sign(g).
  std::vector<float> p = {1, 2};
  Optimizer adam(options("adam"));
  adam.step(p, std::vector<float>{4, -0.5F});
  EXPECT_NEAR(p[0], 0.9, 1e-6);
  EXPECT_NEAR(p[1], 2.1, 1e-6);
  // t = 2, g = 1 in the first: m = 0.9 * 0.4 + 0.1 = 0.46, / (1 - 0.81) = 2.421053; v = 0.999 * 0.016 + 0.001 =
  // 0.016984, / (1 - 0.998001) = 8.496248, root 2.914832: p -= 0.1 * 0.830598.
  adam.step(p, std::vector<float>{1, 0});
  EXPECT_NEAR(p[0], 0.9 - 0.0830598, 1e-6);
}

TEST(RmsProp, DividesByTheRootOfTheMeanSquare) {
  // v = 0.1 * 4 = 0.4; p -= 0.1 * 2 / sqrt(0.4) = 0.316228; then v = 0.9 * 0.4 + 0.1 = 0.46: m = 0.5 * 0.316228 + 0.1 /
  // 0.678233.
  auto o = options("rmsprop");
  o.momentum = 0.5;
  std::vector<float> p = {1};
  Optimizer rmsprop(o);
  rmsprop.step(p, std::vector<float>{2});
  EXPECT_NEAR(p[0], 1 - 0.316228, 1e-6);
  rmsprop.step(p, std::vector<float>{1});
  EXPECT_NEAR(p[0], 1 - 0.316228 - 0.158114 - 0.147442, 1e-6);
}

TEST(Sgd, GathersMomentum) {
  auto o = options("sgd");
  o.momentum = 0.5;
  std::vector<float> p = {1};
  Optimizer sgd(o);
  sgd.step(p, std::vector<float>{2});  // m = 2
  EXPECT_NEAR(p[0], 0.8, 1e-6);
  sgd.step(p, std::vector<float>{2});  // m = 3
  EXPECT_NEAR(p[0], 0.5, 1e-6);
}

TEST(Clipping, ScalesAGradientToTheLargestNorm) {
  auto o = options("sgd");
  o.learning_rate = 1;
  o.clip_norm = 1;
  std::vector<float> p = {0, 0};
  Optimizer sgd(o);
  EXPECT_EQ(sgd.step(p, std::vector<float>{3, 4}).gradient_norm, 5);
  EXPECT_NEAR(p[0], -0.6, 1e-7);
  EXPECT_NEAR(p[1], -0.8, 1e-7);
  sgd.step(p, std::vector<float>{0.25F, 0});
  EXPECT_NEAR(p[0], -0.85, 1e-7);
}

TEST(LearningRate, FollowsItsSchedule) {
  auto o = options("sgd");
  EXPECT_EQ(learning_rate_at(o, 0.9, 1000), 0.1);
  o.learning_rate_end = 0.02;
  o.learning_rate_share = 0.8;
  EXPECT_DOUBLE_EQ(learning_rate_at(o, 0, 7), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate_at(o, 0.2, 0), 0.08);
  EXPECT_DOUBLE_EQ(learning_rate_at(o, 0.8, 0), 0.02);
  EXPECT_DOUBLE_EQ(learning_rate_at(o, 1, 0), 0.02);
  // Both at once: 0.08 of the linear one, halved once after 1 step of the exponential one.
  o.learning_rate_decay = 0.5;
  EXPECT_DOUBLE_EQ(learning_rate_at(o, 0.2, 1), 0.04);
  o = options("sgd");
  o.learning_rate_decay = 0.5;
  o.learning_rate_decay_every = 3;
  EXPECT_DOUBLE_EQ(learning_rate_at(o, 0, 2), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate_at(o, 0, 3), 0.05);
  EXPECT_DOUBLE_EQ(learning_rate_at(o, 0, 8), 0.025);
}

TEST(Optimizer, LeavesParametersThatAreNotFiniteAlone) {
  for (const char* name : {"adam", "rmsprop", "sgd"}) {
    std::vector<float> p = {-infinity, 1};
    Optimizer optimizer(options(name));
    const StepReport report = optimizer.step(p, std::vector<float>{infinity, 2});
    EXPECT_EQ(report.gradient_norm, 2);
    EXPECT_EQ(p[0], -infinity);
    EXPECT_LT(p[1], 1);
    optimizer.step(p, std::vector<float>{1, 2});
    EXPECT_EQ(p[0], -infinity);
  }
}

TEST(Optimizer, RefusesGradientsAndStepsThatAreNotFinite) {
  for (const char* name : {"adam", "rmsprop", "sgd"}) {
    auto o = options(name);
    o.learning_rate = 1e3;
    Optimizer optimizer(o);
    std::vector<float> p = {3e38F, 1};
    optimizer.step(p, std::vector<float>{0, 1});
    const std::vector<float> before = p;
    const State state = optimizer.save();
    EXPECT_THROW(optimizer.step(p, std::vector<float>{0, infinity}), NotFinite);
    EXPECT_THROW(optimizer.step(p, std::vector<float>{std::nanf(""), 0}), NotFinite);
    EXPECT_EQ(p, before);
    EXPECT_EQ(optimizer.save(), state);
    EXPECT_THROW(optimizer.step(p, std::vector<float>{-3e38F, 0}), NotFinite);
  }
}

TEST(Optimizer, RefusesAStepThatOverflowsAMomentOnly) {
  // The square of 1e20 is no float, so v is infinite and Adam's step 0.
  std::vector<float> p = {1, 1};
  Optimizer adam(options("adam"));
  EXPECT_THROW(adam.step(p, std::vector<float>{1e20F, 1}), NotFinite);
}

TEST(Optimizer, IsAsNewAfterAFirstGradientThatIsNotFinite) {
  std::vector<float> p = {1, 1};
  Optimizer adam(options("adam")), fresh(options("adam"));
  EXPECT_THROW(adam.step(p, std::vector<float>{infinity, 1}), NotFinite);
  EXPECT_EQ(adam.save(), fresh.save());
  EXPECT_NO_THROW(fresh.load(adam.save(), 2));
}

TEST(Optimizer, ContinuesToTheSameBitsAfterSaveAndLoad) {
  for (const char* name : {"adam", "rmsprop", "sgd"}) {
    auto o = options(name);
    o.momentum = 0.9;
    o.learning_rate_decay = 0.9;
    std::vector<float> p = {1, 2, 3};
    Optimizer whole(o);
    for (int i = 0; i < 3; ++i) whole.step(p, std::vector<float>{1.0F + i, -2, 0.5F});
    std::vector<float> q = p;
    Optimizer resumed(o);
    resumed.load(whole.save(), 3);
    for (int i = 0; i < 3; ++i) {
      whole.step(p, std::vector<float>{1, 0.3F * i, 0.5F});
      resumed.step(q, std::vector<float>{1, 0.3F * i, 0.5F});
    }
    EXPECT_EQ(p, q);
    Optimizer fresh(o);
    fresh.load(Optimizer(o).save(), 3);
    EXPECT_NO_THROW(fresh.step(p, std::vector<float>{1, 2, 3}));
  }
}

TEST(Optimizer, RefusesAnUnknownName) { EXPECT_THROW(Optimizer(options("adagrad")), BugError); }

TEST(Optimizer, RefusesAStateOfOtherParameters) {
  std::vector<float> p = {1, 2, 3};
  Optimizer optimizer(options("adam"));
  optimizer.step(p, std::vector<float>{1, 2, 3});
  State state = optimizer.save();
  const auto refusal = [&](std::size_t parameters) -> std::string {
    try {
      Optimizer resumed(options("adam"));
      resumed.load(state, parameters);
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_EQ(refusal(3), "none");
  EXPECT_THAT(refusal(4), HasSubstr("checkpoint: array first has 3 elements, wanted 4"));
  std::get<std::vector<std::int64_t>>(state["step"].data)[0] = -1;
  EXPECT_THAT(refusal(3), HasSubstr("array step is -1, wanted 0 to 2^53"));
  std::get<std::vector<std::int64_t>>(state["step"].data)[0] = 0;
  EXPECT_THAT(refusal(3), HasSubstr("array first has 3 elements, wanted 0"));
  std::get<std::vector<std::int64_t>>(state["step"].data)[0] = 1;
  std::get<std::vector<float>>(state["second"].data)[1] = -1;
  EXPECT_THAT(refusal(3), HasSubstr("array second holds a number that is negative or not finite"));
  std::get<std::vector<float>>(state["first"].data)[1] = infinity;
  EXPECT_THAT(refusal(3), HasSubstr("array first holds a number that is not finite"));
}

}  // namespace
}  // namespace emplace::nn::optimizer_test
