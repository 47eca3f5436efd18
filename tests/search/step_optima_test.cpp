// Published optimal steps, proved by branch and bound. The table, with times:
//   EMPLACE_PRINT_TABLE=1 test_search --gtest_filter='StepOptima.*'
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "emplace/search/placer.hpp"
#include "formats/workload/workload.hpp"
#include "tests/support/outside_files.hpp"

namespace emplace::search::step_optima_test {
namespace {

using nlohmann::json;

const std::string folder = test::outside_file("workloads/");
constexpr Ticks us = 1'000'000;

class StepOptima : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(folder); }
};

struct Solved {
  PlacerResult result;
  double seconds;
};

Solved solve(const Problem& problem) {
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, Schedule::in_order);
  PlacerRequest request;
  request.problem = &problem;
  request.schedule = Schedule::in_order;
  request.evaluator = evaluator.get();
  request.seconds = 10;
  const auto start = std::chrono::steady_clock::now();
  PlacerResult result = place_with("branch-and-bound", request, ConfigTable{});
  return {std::move(result), std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
}

// Rounds, because costs of 0 take 1 ps.
Ticks in_microseconds(Ticks ticks) { return (ticks + us / 2) / us; }

TEST_F(StepOptima, OfSinnensGraphsAreProved) {
  const std::string file = folder + "sinnen-optimal/sinnen-optimal-10-tasks.json";
  const std::string text = read_file(file);
  const json instances = json::parse(text);
  ASSERT_EQ(instances.size(), 276U);
  const bool print = std::getenv("EMPLACE_PRINT_TABLE") != nullptr;
  struct Row {
    int instances = 0, proved = 0;
    double seconds = 0, longest = 0;
  };
  std::map<int, Row> rows;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto name = instances[i]["name"].get<std::string>();
    const Problem problem = formats::read_problem_text(text, file, {.instance = name, .processors = {}});
    const auto [result, seconds] = solve(problem);
    const auto optimal = instances[i]["optimal"].get<Ticks>();
    EXPECT_LE(result.lower_bound, optimal * us + 100) << name;
    if (result.proved_optimal) {
      EXPECT_EQ(in_microseconds(result.outcome.makespan), optimal) << name;
    }
    if (print && seconds > 1)
      fmt::print("{}: {:.2f} s, proved {}, {}\n", name, seconds, result.proved_optimal, result.note);
    Row& row = rows[instances[i]["processors"].get<int>()];
    ++row.instances;
    row.proved += result.proved_optimal;
    row.seconds += seconds;
    row.longest = std::max(row.longest, seconds);
  }
  int count = 0, proved = 0;
  for (const auto& [processors, row] : rows) {
    if (print)
      fmt::print("{:2} processors: {:2} of {:2} proved, {:.3f} s on average, {:.2f} s at most\n", processors,
                 row.proved, row.instances, row.seconds / row.instances, row.longest);
    count += row.instances;
    proved += row.proved;
  }
  EXPECT_GE(proved, count * 97 / 100);
}

TEST_F(StepOptima, OfUnrelatedProcessorsAreProved) {
  const json optima = json::parse(read_file(folder + "het-dag/optimal.json"));
  ASSERT_EQ(optima.size(), 7U);
  for (const auto& [name, known] : optima.items()) {
    const Problem problem = formats::read_problem_file({folder + "het-dag/" + name + ".txt", {}});
    const auto [result, seconds] = solve(problem);
    EXPECT_TRUE(result.proved_optimal) << name << ": " << result.note;
    EXPECT_EQ(in_microseconds(result.outcome.makespan), known["optimal"].get<Ticks>()) << name;
  }
}

}  // namespace
}  // namespace emplace::search::step_optima_test
