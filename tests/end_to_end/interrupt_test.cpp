// Ctrl-C: the first one ends the training after saving, the second one ends it at once.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::interrupt_test {
namespace {

using ::testing::HasSubstr;

class Interrupt : public ::testing::Test {
 protected:
  Interrupt() { write_file(problem_, example_problem); }
  // A training that takes hours; returns once it has begun.
  [[nodiscard]] std::vector<std::string> training(const std::string& more) const {
    return command({"train", "configs/recipes/colocrl.toml", "problem=" + problem_, "colocrl.hidden=8",
                    "updates=100000000", more, "compare=[]", "run=" + run_});
  }
  void wait_until_running() const {
    for (int i = 0; i < 3000 && !file_exists(run_ + "/status"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  TemporaryFolder folder_;
  const std::string problem_ = folder_ / "problem.json", run_ = folder_ / "run";
};

TEST_F(Interrupt, SignalsInQuickSuccessionCountAsOne) {
  Process process(training("seed=1"));
  wait_until_running();
  for (int i = 0; i < 3; ++i) {
    process.signal(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const Finished done = process.wait(std::chrono::seconds(30));
  EXPECT_EQ(done.exit_code, 75) << done.err;
  EXPECT_THAT(done.err, HasSubstr("stopped early"));
  EXPECT_EQ(read_file(run_ + "/status"), "interrupted\n");
  EXPECT_TRUE(file_exists(run_ + "/checkpoint.h5"));
}

TEST_F(Interrupt, AfterASecondEndsAProgramThatIsStillAtWorkAtOnce) {
  Process process(training("reinforce.samples_per_update=1000000"));  // in its first update for minutes
  wait_until_running();
  process.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  process.signal(SIGINT);
  const Finished done = process.wait(std::chrono::seconds(30));
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.exit_code, 128 + SIGINT) << done.err;
}

}  // namespace
}  // namespace emplace::test::interrupt_test
