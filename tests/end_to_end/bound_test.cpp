// `emplace bound`: certified lower bounds from the command line.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/end_to_end/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::bound_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Bound : public ::testing::Test {
 protected:
  void SetUp() override { write_file(problem_, example_problem); }
  TemporaryFolder folder_;
  std::string problem_ = folder_ / "problem.json";
};

TEST_F(Bound, GivesTheBoundAndTheMethod) {
  const auto done = emplace_run({"bound", problem_, "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json result = json::parse(done.out);
  // b runs on cpu:0 only; a is quicker on gpu:0 even with the transfer: 1 ms + 10.341333 us + 10 ms.
  EXPECT_EQ(result["lower_bound_ps"], 11010341333);
  EXPECT_DOUBLE_EQ(result["lower_bound_s"].get<double>(), 0.011010341333);
  EXPECT_EQ(result["method"], "critical-path");
  EXPECT_TRUE(result["reason"].is_null());
  double best = 0;
  for (const json& each : result["methods"]) best = std::max(best, each["lower_bound_s"].get<double>());
  EXPECT_EQ(best, result["lower_bound_s"].get<double>());
  EXPECT_THAT(emplace_run({"bound", problem_}).out, AllOf(HasSubstr("takes less than"), HasSubstr("windows")));
}

TEST_F(Bound, GivesThePipelinesBound) {
  // The load of b alone: 10 ms on the only device that runs it.
  const auto done = emplace_run({"bound", problem_, "--objective", "pipeline", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_DOUBLE_EQ(json::parse(done.out)["lower_bound_s"].get<double>(), 0.010);
}

TEST_F(Bound, EndsWithThreeAndAReasonWhereNothingIsFeasible) {
  write_file(problem_, R"({"emplace": "problem/1", "devices": [{"name": "d", "memory_bytes": 10}],
    "ops": [{"name": "a", "seconds": [1], "resident_bytes": 11}], "tensors": []})");
  const auto done = emplace_run({"bound", problem_, "--json"});
  EXPECT_EQ(done.exit_code, 3);
  const json result = json::parse(done.out);
  EXPECT_TRUE(result["lower_bound_s"].is_null());
  EXPECT_THAT(result["reason"].get<std::string>(), HasSubstr("'a' fits in the memory of no device"));
}

TEST_F(Bound, RefusesBudgetsOfNothingAndUnknownObjectives) {
  for (const char* seconds : {"0", "-1", "nan", "inf"})
    expect_refused({"bound", problem_, "--seconds", seconds}, HasSubstr("--seconds"));
  expect_refused({"bound", problem_, "--objective", "pipelin"}, HasSubstr("did you mean 'pipeline'"));
  expect_refused({"bound", folder_ / "none.json"}, HasSubstr("none.json"));
  expect_refused({"bound"}, HasSubstr("problem"));
}

TEST_F(Bound, ComesWithBranchAndBound) {
  const auto done = emplace_run({"place", "branch-and-bound", problem_, "--schedule", "in-order", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(json::parse(done.out)["proved_optimal"], true);
  EXPECT_EQ(emplace_run({"place", "branch-and-bound", problem_, "--objective", "pipeline"}).exit_code, 2);
}

}  // namespace
}  // namespace emplace::test::bound_test
