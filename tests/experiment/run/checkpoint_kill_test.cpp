// A process is killed while it saves, at any moment: a reader then finds a state that was saved completely.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

#include "base/files.hpp"
#include "emplace/base/random.hpp"
#include "tests/experiment/run/checkpoint_samples.hpp"

namespace emplace::experiment::checkpoint_kill_test {
namespace {

Checkpoint large_checkpoint(std::uint64_t update) {
  Checkpoint c = sample_checkpoint(update);
  put(c.arrays, "policy/parameters", counting<float>(50'000, static_cast<float>(update)));
  return c;
}

TEST(KilledProcess, LeavesALoadableCheckpointWheneverItDies) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), large_checkpoint(0));
  Stream stream({.seed = 3});
  std::uint64_t before = 0;
  for (int round = 0; round < 40; ++round) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(30);  // in case the parent dies
      for (std::uint64_t update = before + 1;; ++update) save_checkpoint(folder.path(), large_checkpoint(update));
    }
    usleep(1000 + stream.below(20'000));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const Checkpoint found = load_newest_checkpoint(folder.path());
    const std::uint64_t update = std::stoull(found.attributes.at("update"));
    ASSERT_TRUE(same_bits(found, large_checkpoint(update)));
    ASSERT_GE(update, before);
    before = update;
  }
  EXPECT_GT(before, 0U);
}

}  // namespace
}  // namespace emplace::experiment::checkpoint_kill_test
