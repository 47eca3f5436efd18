// A save that fails leaves a readable checkpoint: killed at each of its system calls in turn, and on a full disk.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/files.hpp"
#include "tests/experiment/run/checkpoint_samples.hpp"

namespace emplace::experiment::checkpoint_system_calls_test {
namespace {

// Kills a process that saves at the n-th time that it enters or leaves a system call. True if it had finished before;
// empty if this process may not trace another one.
std::optional<bool> save_but_die_at(const std::string& folder, const Checkpoint& checkpoint, int n) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // in case the parent dies
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(9);
    raise(SIGSTOP);
    save_checkpoint(folder, checkpoint);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return std::nullopt;
  for (int moment = 0; moment < n; ++moment) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (WIFEXITED(status) || WIFSIGNALED(status)) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

TEST(SystemCallsOfASave, MayEachBeTheLast) {
  const Checkpoint older = sample_checkpoint(1), before = sample_checkpoint(2), after = sample_checkpoint(3);
  int olds = 0, news = 0, n = 0;
  for (bool done = false; !done; ++n) {
    const TemporaryFolder folder;
    save_checkpoint(folder.path(), older);
    save_checkpoint(folder.path(), before);
    const auto finished = save_but_die_at(folder.path(), after, n);
    if (!finished) GTEST_SKIP() << "this process may not watch another";
    done = *finished;
    const Checkpoint found = load_newest_checkpoint(folder.path());
    const bool is_new = same_bits(found, after);
    ASSERT_TRUE(is_new || same_bits(found, before)) << "moment " << n;
    ASSERT_TRUE(is_new || !done);
    (is_new ? news : olds) += 1;
    // The next save works in spite of the files that this one left.
    save_checkpoint(folder.path(), after);
    ASSERT_TRUE(same_bits(load_checkpoint(folder / "checkpoint.h5"), after)) << "moment " << n;
    ASSERT_LT(n, 5000) << "a save has no end";
  }
  EXPECT_GT(olds, 20) << "of " << n;
  EXPECT_GT(news, 2) << "of " << n;
}

TEST(FullDisk, KeepsTheCheckpointThatIsThereAndSaysWhy) {
  const TemporaryFolder folder;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    // A separate file system of 256 KiB, which no other process sees and which ends with this process.
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("emplace", folder.path().c_str(), "tmpfs", 0, "size=256k") != 0)
      _exit(77);
    save_checkpoint(folder.path(), sample_checkpoint(1));
    Checkpoint large = sample_checkpoint(2);
    put(large.arrays, "policy/parameters", counting<float>(100'000, 0));
    for (int attempt = 0; attempt < 3; ++attempt) {
      try {
        save_checkpoint(folder.path(), large);
        _exit(1);
      } catch (const EnvironmentError& error) {
        if (std::string(error.what()).find("No space left on device") == std::string::npos) {
          std::fprintf(stderr, "%s\n", error.what());
          _exit(2);
        }
      }
      if (!same_bits(load_checkpoint(folder / "checkpoint.h5"), sample_checkpoint(1))) _exit(3);
    }
    // The failed attempts left no files that take space: a smaller state still fits.
    save_checkpoint(folder.path(), sample_checkpoint(3));
    _exit(same_bits(load_checkpoint(folder / "checkpoint.h5"), sample_checkpoint(3)) ? 0 : 4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace emplace::experiment::checkpoint_system_calls_test
