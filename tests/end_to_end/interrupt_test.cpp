// Ctrl-C: the first one ends the training after saving, the second one ends it at once.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/files.hpp"
#include "tests/end_to_end/bits.hpp"
#include "tests/end_to_end/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::test::interrupt_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Interrupt : public ::testing::Test {
 protected:
  Interrupt() { write_file(problem_, example_problem); }
  // A training that takes hours; returns once it has begun.
  [[nodiscard]] std::vector<std::string> training(const std::string& more) const {
    return command({"train", "configs/recipes/colocrl-published.toml", "problem=" + problem_, "colocrl.hidden=8",
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

TEST_F(Interrupt, OfTheComparisonsAfterATrainingLeavesTheVerdict) {
  std::string compare = "compare=[";
  for (int i = 0; i < 500; ++i) compare += "\"random\",";
  Process process(command({"train", "post-published", "problem=" + problem_, "post.samples_per_update=200000",
                           "post.window=200000", "evaluations=200000", compare + "]", "run=" + run_}));
  EXPECT_TRUE(comes_true([&] { return file_exists(run_ + "/status") && read_file(run_ + "/status") == "finished\n"; }));
  process.signal(SIGINT);
  const Finished done = process.wait(std::chrono::seconds(30));
  EXPECT_EQ(done.exit_code, 75) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("\nverdict\n"), HasSubstr("post (learned)")));
  EXPECT_THAT(done.err, AllOf(HasSubstr("the comparisons were stopped on request: "),
                              HasSubstr("the training had ended when the stop was requested: all of it is saved"),
                              ::testing::Not(HasSubstr("before there was anything to save"))));
}

// The program writes a problem into a pipe that nobody reads.
TEST_F(Interrupt, AfterASecondEndsAProgramThatIsStillAtWorkAtOnce) {
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int reader = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  Process process({"bash", "-c",
                   "exec " + std::string(EMPLACE_PROGRAM) + " cost 'zoo:nmt?layers=2&training=true' k40x2 > " + pipe});
  const auto is_full = [&] {
    int bytes = 0;
    return ::ioctl(reader, FIONREAD, &bytes) == 0 && bytes >= 60'000;
  };
  EXPECT_TRUE(comes_true(is_full));
  process.signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  process.signal(SIGINT);
  const Finished done = process.wait(std::chrono::seconds(30));
  EXPECT_FALSE(done.timed_out);
  EXPECT_EQ(done.exit_code, 128 + SIGINT) << done.err;
  ::close(reader);
}

// Updates of some seconds; alone, and with workers that compute parts of them.
class InterruptOfALongUpdate : public Interrupt, public ::testing::WithParamInterface<int> {
 protected:
  [[nodiscard]] std::vector<std::string> started(const std::vector<std::string>& arguments) const {
    return GetParam() == 1 ? command(arguments) : under_mpirun(GetParam(), command(arguments));
  }
  [[nodiscard]] std::vector<std::string> training(const std::string& run) const {
    return started({"train", "configs/recipes/colocrl-published.toml",
                    "problem=zoo:gnmt?layers=4&sequence=20&training=true@k40x2", "groups=600", "colocrl.hidden=256",
                    "reinforce.samples_per_update=32", "updates=2", "workers=simulate+learn", "compare=[]",
                    "run=" + run});
  }
};

TEST_P(InterruptOfALongUpdate, AbandonsItAndGoesOnFromBeforeItWithTheSameBits) {
  const Finished undisturbed = run(training(folder_ / "whole"), std::chrono::seconds(600));
  ASSERT_EQ(undisturbed.exit_code, 0) << undisturbed.err;

  Process process(training(run_));
  wait_until_running();
  process.signal(SIGUSR1);  // mpirun passes it on
  const auto begin = std::chrono::steady_clock::now();
  const Finished done = process.wait(std::chrono::seconds(60));
  EXPECT_EQ(done.exit_code, 75) << done.err;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(read_file(run_ + "/status"), "interrupted\n");
  EXPECT_TRUE(file_exists(run_ + "/checkpoint.h5"));
  EXPECT_THAT(read_file(run_ + "/metrics.csv"), ::testing::Not(HasSubstr("\n1,"))) << "no update was finished";

  const Finished resumed = run(started({"train", "--resume", run_}), std::chrono::seconds(600));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(metrics_without_clocks(run_), metrics_without_clocks(folder_ / "whole"));
  EXPECT_EQ(without_clocks(run_), without_clocks(folder_ / "whole"));
  EXPECT_EQ(best_placements(run_), best_placements(folder_ / "whole"));
}

INSTANTIATE_TEST_SUITE_P(Ranks, InterruptOfALongUpdate, ::testing::Values(1, 3));

TEST_F(Interrupt, EndsAProgramThatStillReadsItsProblemAtOnce) {
  Process process(command({"train", "configs/recipes/gdp-published.toml",
                           "problem=zoo:gnmt?layers=8&sequence=500&training=true@k40x2", "run=" + run_}));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // of several seconds
  process.signal(SIGTERM);
  const Finished done = process.wait(std::chrono::seconds(30));
  EXPECT_EQ(done.exit_code, 75) << done.err;
  EXPECT_THAT(done.err, HasSubstr("before there was anything to save"));
  EXPECT_FALSE(file_exists(run_));
}

}  // namespace
}  // namespace emplace::test::interrupt_test
