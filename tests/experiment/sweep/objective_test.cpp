#include "experiment/sweep/objective.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace emplace::experiment::objective_test {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();
using Seconds = std::vector<std::vector<double>>;

TEST(TrialObjective, OfOneSeedAndOneProblemIsItsStepTime) {
  EXPECT_DOUBLE_EQ(trial_objective(Seconds{{0.25}}).value(), 0.25);
}

TEST(TrialObjective, IsTheGeometricMeanOverProblems) {
  // sqrt(0.01 x 4) = 0.2: a problem of 4 s weighs no more than one of 10 ms.
  EXPECT_DOUBLE_EQ(trial_objective(Seconds{{0.01, 4}}).value(), 0.2);
}

TEST(TrialObjective, IsTheMedianOverSeeds) {
  EXPECT_DOUBLE_EQ(trial_objective(Seconds{{5}, {1}, {2}}).value(), 2);
  EXPECT_DOUBLE_EQ(trial_objective(Seconds{{4}, {1}, {9}, {2}}).value(), std::sqrt(2.0 * 4)) << "the middle two";
}

TEST(TrialObjective, SurvivesSeedsWithoutAPlacementWhileTheyAreFew) {
  EXPECT_DOUBLE_EQ(trial_objective(Seconds{{none}, {1}, {2}}).value(), 2);
  EXPECT_EQ(trial_objective(Seconds{{none}, {1}, {none}}), std::nullopt);
  EXPECT_EQ(trial_objective(Seconds{{none}, {1}}), std::nullopt) << "half of them";
  EXPECT_EQ(trial_objective(Seconds{{1, none}}), std::nullopt) << "one problem of its only seed";
}

}  // namespace
}  // namespace emplace::experiment::objective_test
