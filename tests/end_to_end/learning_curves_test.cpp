// scripts/learning-curves: which updates of a run's metrics.csv it shows, and how.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::learning_curves_test {
namespace {

using ::testing::HasSubstr;

class LearningCurves : public ::testing::Test {
 protected:
  [[nodiscard]] Finished shown(const std::string& metrics, std::vector<std::string> options) const {
    std::filesystem::create_directories(folder_ / "run");
    write_file(folder_ / "run/metrics.csv", metrics);
    options.insert(options.begin(), std::string(EMPLACE_SOURCE) + "/scripts/learning-curves");
    options.emplace_back(folder_ / "run");
    return run(options);
  }
  TemporaryFolder folder_;
};

const std::string header =
    "update,entropy,gradient_norm,step_time_q10,step_time_q50,step_time_q90,feasible_share,best_step_time\n";

TEST_F(LearningCurves, ShowTheUpdatesAtSharesOfARun) {
  const Finished done =
      shown(header + "1,1.5,81.53849,5,6,7,1,5\n2,0.5,10,4,5,6,1,4\n3,0.0001,0,,,,0,4\n", {"--at", "0,50,100"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("| run | 0 % | 1.5 | 81.5 | 5, 6, 7 | 100 % | 5 |\n"
                                  "| run | 50 % | 0.5 | 10 | 4, 5, 6 | 100 % | 4 |\n"
                                  "| run | 100 % | 0.0001 | 0 | -, -, - | 0 % | 4 |\n"));
}

TEST_F(LearningCurves, RefuseARunWithoutUpdatesAnotherFileAndSharesThatAreNone) {
  const Finished empty = shown(header, {});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("metrics.csv: no updates"));
  EXPECT_EQ(empty.out, "");
  EXPECT_THAT(shown("a,b\n1,2\n", {}).err, HasSubstr("metrics.csv: not the metrics of a training"));
  EXPECT_EQ(shown(header, {"--at", "0,101"}).exit_code, 2);
}

}  // namespace
}  // namespace emplace::test::learning_curves_test
