// The order in which a training writes and flushes its files when it saves a checkpoint.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/files.hpp"
#include "experiment/run/training.hpp"
#include "experiment/run/training_backend.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::training_system_calls_test {
namespace {

// A training of four updates with two checkpoints.
void train(const std::string& run) {
  Training training(
      make_recipe(ConfigTable::parse_toml("problem = \"zoo:nmt?layers=2&sequence=4&training=true@k40x2\"\n"
                                          "updates = 4\ncheckpoint_every = 2\nrun = \"" +
                                              run + "\"\n",
                                          "test")));
  const RunFolder folder = RunFolder::create(run, training.recipe().resolved());
  const TrainingBackend backend = make_training_backend(nullptr, training, folder);
  Training::Session session = backend.session();
  session.show_progress = false;
  training.run(folder, session);
}

// Runs `work` in a separate process and lists what it does to the files of a folder, in order, as "write metrics.csv",
// "fsync metrics.csv", "rename checkpoint.h5"; empty if this process may not trace another one.
template <class Work>
std::vector<std::string> deeds(const std::string& folder, const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // in case the parent dies
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(9);
    raise(SIGSTOP);
    try {
      work();
      _exit(0);
    } catch (...) {
      _exit(1);
    }
  }
  std::vector<std::string> done;
  const auto add = [&](const char* verb, const std::filesystem::path& file) {
    if (file.parent_path() == folder) done.push_back(verb + (" " + file.filename().string()));
  };
  const auto file_of = [&](std::uint64_t fd) {
    std::error_code closed;
    return std::filesystem::read_symlink("/proc/" + std::to_string(child) + "/fd/" + std::to_string(fd), closed);
  };
  const auto text_at = [&](std::uint64_t address) {
    std::string text;
    for (; text.size() < 4096; address += sizeof(long)) {
      errno = 0;
      const long word = ptrace(PTRACE_PEEKDATA, child, address, nullptr);
      if (errno != 0) break;
      const std::string_view bytes(reinterpret_cast<const char*>(&word), sizeof word);
      text += bytes.substr(0, bytes.find('\0'));
      if (bytes.find('\0') != std::string_view::npos) break;
    }
    return text;
  };
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFSTOPPED(status)) return {};
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD);
  while (ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 && waitpid(child, &status, 0) == child &&
         WIFSTOPPED(status)) {
    __ptrace_syscall_info info{};
    ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info);
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) continue;
    if (info.entry.nr == SYS_write) add("write", file_of(info.entry.args[0]));
    if (info.entry.nr == SYS_fsync) add("fsync", file_of(info.entry.args[0]));
    if (info.entry.nr == SYS_rename) add("rename", text_at(info.entry.args[1]));
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return done;
}

TEST(SystemCallsOfATraining, BringAllRowsOfTheMetricsToTheDiskBeforeTheCheckpointThatKnowsThem) {
  const test::TemporaryFolder folder;
  const std::string run = folder / "run";
  const std::vector<std::string> all = deeds(run, [&] { train(run); });
  if (all.empty()) GTEST_SKIP() << "this process may not watch another";
  std::vector<std::string> of_both;
  for (const std::string& deed : all)
    if (deed.ends_with(" metrics.csv") || deed == "rename checkpoint.h5") of_both.push_back(deed);
  // The first is the empty file, with which a training begins.
  EXPECT_THAT(of_both, ::testing::ElementsAre("rename metrics.csv", "write metrics.csv", "write metrics.csv",
                                              "fsync metrics.csv", "rename checkpoint.h5", "write metrics.csv",
                                              "write metrics.csv", "fsync metrics.csv", "rename checkpoint.h5"));
}

}  // namespace
}  // namespace emplace::experiment::training_system_calls_test
