// A process that runs a sweep is killed again and again: every trial is in the table exactly once.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "emplace/base/random.hpp"
#include "experiment/sweep/sweep_run.hpp"
#include "tests/experiment/sweep/sweeps.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::sweep_kill_test {
namespace {

TrialResult result_of(const SweepRun& run, Work work) {
  return {.objective = *run.strategy().assignment(work.trial).values[0], .seconds = 1};
}

// Runs four trainings at a time, of which the oldest always ends first.
void carry_out(const Sweep& sweep, const std::string& record) {
  SweepRun run(sweep, record);
  std::deque<Work> open;
  while (!run.finished()) {
    while (open.size() < 4) {
      const auto work = run.next();
      if (!work) break;
      open.push_back(*work);
    }
    usleep(2000);  // a training
    run.end(open.front(), result_of(run, open.front()));
    open.pop_front();
  }
}

TEST(KilledSweep, HasEveryOfTwoHundredTrialsOnceAfterTenKills) {
  const test::TemporaryFolder folder;
  const Sweep sweep = test::sweep_of(
      "problem = \"p.json\"\nupdates = 10\nstrategy = \"tpe\"\ntrials = 200\n[space]\ngroups = { integers = [1, 1000] "
      "}\n"
      "group_share = { uniform = [0.1, 1] }\n");
  const std::string record = folder / "record.jsonl";
  Stream stream({.seed = 3});
  std::size_t before = 0;
  int hits = 0;
  for (int kills = 0; kills < 10; ++kills) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);  // in case the parent dies
      carry_out(sweep, record);
      _exit(0);
    }
    usleep(1000 + stream.below(30'000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    hits += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? 1 : 0;
    if (access(record.c_str(), F_OK) != 0) continue;
    const std::size_t events = read_record(record).events.size();
    ASSERT_GE(events, before) << "what was recorded stays";
    before = events;
  }
  EXPECT_GE(hits, 5) << "the others came when all was done";
  EXPECT_GT(before, 0U);
  carry_out(sweep, record);

  std::map<std::size_t, int> begun, ended;
  for (const SweepEvent& event : read_record(record).events)
    ++(event.kind == SweepEvent::Kind::begin ? begun : ended)[event.work.trial];
  for (std::size_t trial = 0; trial < 200; ++trial) {
    EXPECT_EQ(begun[trial], 1) << trial;
    EXPECT_EQ(ended[trial], 1) << trial;
  }
  // The same trials, with the same results, as in a sweep without kills.
  carry_out(sweep, folder / "undisturbed.jsonl");
  const auto rows = SweepRun(sweep, record).rows();
  const auto wanted = SweepRun(sweep, folder / "undisturbed.jsonl").rows();
  ASSERT_EQ(rows.size(), 200U);
  for (std::size_t trial = 0; trial < 200; ++trial) {
    EXPECT_EQ(rows[trial].status, TrialStatus::finished);
    EXPECT_EQ(rows[trial].assignment, wanted[trial].assignment);
    EXPECT_EQ(rows[trial].objective, wanted[trial].objective);
  }
}

}  // namespace
}  // namespace emplace::experiment::sweep_kill_test
