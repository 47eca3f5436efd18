#include "experiment/tables/expected_times.hpp"

#include <gtest/gtest.h>

namespace emplace::experiment::expected_times_test {
namespace {

TEST(ExpectedTimes, AreBudgetsOrThoseOfTheMethodsOtherCells) {
  ExpectedTimes times;
  const auto of = [](const char* id, const char* recipe = "") {
    CellTask task;
    task.id = id;
    task.recipe = recipe;
    return task;
  };
  EXPECT_EQ(times.of(of("one.greedy.0")), 0) << "nothing is known";
  times.took(of("one.post.0", "a recipe"), 10);
  times.took(of("two.post.1", "a recipe"), 20);
  times.took(of("two.gdp.0", "a recipe"), 60);
  EXPECT_EQ(times.of(of("three.post.0", "a recipe")), 15);
  EXPECT_EQ(times.of(of("three.go.0", "a recipe")), 30) << "of all trainings";
  CellTask best = of("three.best.0");
  best.seconds = 300;
  EXPECT_EQ(times.of(best), 300);
}

}  // namespace
}  // namespace emplace::experiment::expected_times_test
