#include "experiment/sweep/importance.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/experiment/sweep/sweeps.hpp"
#include "tests/experiment/sweep/workers.hpp"

namespace emplace::experiment::importance_test {
namespace {

using test::space_of;

// Rows of trials with these values and objectives.
std::vector<TrialRow> rows_of(const std::vector<std::vector<std::optional<double>>>& values,
                              const std::vector<double>& objectives) {
  std::vector<TrialRow> rows;
  for (std::size_t i = 0; i < values.size(); ++i)
    rows.push_back(
        {.trial = i, .status = TrialStatus::finished, .objective = objectives[i], .assignment = Assignment{values[i]}});
  return rows;
}

TEST(Importance, IsTheShareOfTheVarianceBetweenGroups) {
  // Logarithms 0, 2 and 4, 6 of the two choices: means 1 and 5 around 3. Between: 4 x 2^2 = 16; in all: 9 + 1 + 1 + 9
  // = 20.
  const Space space = space_of("policy = [\"post\", \"gdp\"]");
  const auto found = importances(space, rows_of({{0}, {0}, {1}, {1}}, {1, std::exp(2), std::exp(4), std::exp(6)}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "policy");
  EXPECT_EQ(found[0].trials, 4U);
  EXPECT_EQ(found[0].groups, 2U);
  EXPECT_NEAR(found[0].share, 0.8, 1e-12);
}

TEST(Importance, TellsAParameterThatMattersFromOneThatDoesNot) {
  const Space space =
      space_of("\"ppo.learning_rate\" = { log_uniform = [1e-5, 1e-1] }\n\"ppo.clip_ratio\" = { uniform = [0, 1] }");
  std::vector<TrialRow> rows;
  for (std::size_t trial = 0; trial < 60; ++trial) {
    Stream stream({.seed = 5, .update = trial});
    const double x = stream.uniform(), y = stream.uniform();
    rows.push_back({.trial = trial,
                    .objective = std::exp(4 * (x - 0.4) * (x - 0.4) + 0.1 * stream.normal()),
                    .assignment = space.decode(std::vector<double>{x, y})});
  }
  const auto found = importances(space, rows);
  EXPECT_GT(found[0].share, 0.8);
  EXPECT_LT(found[0].noise, 0.4);
  EXPECT_LT(found[1].share, found[1].noise);
  // By chance g groups of n trials explain (g - 1) / (n - 1) of the variance.
  EXPECT_EQ(found[1].groups, 7U);
  EXPECT_NEAR(found[1].by_chance, 6.0 / 59, 0.02);
}

TEST(Importance, ComparesOnlyTrialsWhereTheParameterIsActive) {
  const Space space =
      space_of("policy = [\"post\", \"gdp\"]\n\"gdp.hidden\" = { integers = [8, 9], when = { policy = \"gdp\" } }");
  auto rows = rows_of({{0, {}}, {1, 8}, {1, 8}, {1, 9}, {1, 9}}, {9, 1, 1, 2, 2});
  rows.push_back({.trial = 5, .status = TrialStatus::failed, .assignment = Assignment{{1, 9}}});
  const auto found = importances(space, rows);
  EXPECT_EQ(found[1].trials, 4U);
  EXPECT_NEAR(found[1].share, 1, 1e-12);
}

TEST(Importance, SaysNothingOfTooFewTrialsOrOfOneValue) {
  const Space space = space_of("policy = [\"post\", \"gdp\"]");
  EXPECT_EQ(importances(space, {})[0].share, 0);
  EXPECT_EQ(importances(space, rows_of({{0}, {1}}, {1, 2}))[0].share, 0);
  EXPECT_EQ(importances(space, rows_of({{0}, {0}, {0}}, {1, 2, 3}))[0].share, 0);
  EXPECT_EQ(importances(space, rows_of({{0}, {1}, {0}}, {2, 2, 2}))[0].share, 0) << "nothing to explain";
}

TEST(ParallelCoordinates, PutTheBestTrialLast) {
  const Space space =
      space_of("policy = [\"post\", \"gdp\"]\n\"gdp.hidden\" = { integers = [8, 9], when = { policy = \"gdp\" } }");
  const auto points = parallel_coordinates(space, rows_of({{0, {}}, {1, 9}}, {1, 2}));
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].trial, 1U);
  EXPECT_THAT(points[0].coordinates, ::testing::ElementsAre(0.75, 0.75));
  EXPECT_EQ(points[1].coordinates[1], std::nullopt);
}

}  // namespace
}  // namespace emplace::experiment::importance_test
