// scripts/cp-sat: the same problem solved by OR-Tools' CP-SAT. Left out where OR-Tools is not installed.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::cp_sat_script_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string script = std::string(EMPLACE_SOURCE) + "/scripts/cp-sat";

// s (1 ms) -> a, b (10 ms) -> t (1 ms) on two equal devices; a transfer takes 2 ms. One of a and b and then t are on
// the other device than s: 1 + 2 + 10 + 1 = 14.
constexpr const char* fork_join = R"({"emplace": "problem/1", "name": "fork and join",
  "devices": [{"name": "x", "memory_bytes": null}, {"name": "y", "memory_bytes": null}],
  "channels": [{"name": "there", "latency_s": 0.002, "bytes_per_s": 1e30},
               {"name": "back", "latency_s": 0.002, "bytes_per_s": 1e30}],
  "routes": [{"from": 0, "to": 1, "channels": [0]}, {"from": 1, "to": 0, "channels": [1]}],
  "ops": [{"name": "s", "seconds": [0.001, 0.001]}, {"name": "a", "seconds": [0.01, 0.01]},
          {"name": "b", "seconds": [0.01, 0.01]}, {"name": "t", "seconds": [0.001, 0.001]}],
  "tensors": [{"from": 0, "bytes": 0, "to": [1, 2]}, {"from": 1, "bytes": 0, "to": [3]},
              {"from": 2, "bytes": 0, "to": [3]}]})";

TEST(CpSatScript, AgreesWithTheBoundAndTheBestPlacementOfASmallStep) {
  std::string python = std::string(EMPLACE_SOURCE) + "/build/cp-sat/bin/python";
  if (!std::filesystem::exists(python)) python = "python3";
  if (run({python, "-c", "import ortools"}).exit_code != 0) GTEST_SKIP() << "OR-Tools is not installed";
  const TemporaryFolder folder;
  const std::string problem = folder / "problem.json", placement = folder / "placement.json";
  write_file(problem, fork_join);
  const auto done = run({"env", std::string("EMPLACE=") + EMPLACE_PROGRAM, python, script, problem, "--seconds", "5",
                         "--compare", "-o", placement});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("bound of CP-SAT    14 ms (optimum of its program)"),
                              HasSubstr("step, simulated    14 ms"), HasSubstr("emplace bound      14 ms"),
                              HasSubstr("emplace place best 14 ms")));
  EXPECT_EQ(emplace_run({"simulate", problem, placement}).exit_code, 0);
}

TEST(CpSatScript, SaysWhatIsMissingOrWrong) {
  const TemporaryFolder folder;
  const std::string problem = folder / "problem.json";
  write_file(problem, fork_join);
  // Without site packages there is no OR-Tools.
  const auto missing = run({"python3", "-I", "-S", script, problem});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("OR-Tools is missing"));
  EXPECT_EQ(run({"python3", "-I", "-S", script}).exit_code, 2);
}

}  // namespace
}  // namespace emplace::test::cp_sat_script_test
