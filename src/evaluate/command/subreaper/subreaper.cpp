// Runs one user's program, and kills every process that the program started as soon as the program has ended, also
// processes in the background or in a session of their own: each becomes a child of this process when its parent ends.
// The same happens if the process that started this one dies.
//
//   subreaper PARENT FOLDER PROGRAM ARGUMENTS...     descriptor 3: gets the SubreaperReport
//
// It is a separate, small program because a process that uses MPI should not fork and must not become the parent of the
// user's processes.
#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "evaluate/command/subreaper/subreaper.hpp"

namespace {

using emplace::evaluate::SubreaperReport;

constexpr int report_fd = 3;
// A limit is needed for processes that even SIGKILL does not end because they wait in the kernel for a disk or a
// driver.
constexpr int most_kill_rounds = 2500;
constexpr timespec between_rounds{0, 2'000'000};

pid_t parent_of(const char* process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%.20s/stat", process);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  char text[1024];
  const ssize_t got = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (got <= 0) return -1;
  text[got] = '\0';
  // The text is "pid (name) state parent ..."; the name may contain brackets, so parse from the last bracket on.
  const char* end = std::strrchr(text, ')');
  int parent = -1;
  if (end == nullptr || std::sscanf(end + 1, " %*c %d", &parent) != 1) return -1;
  return parent;
}

// Kills only children of this process: their ids cannot be reused before this process has waited for them. The
// processes that they started then become children of this process.
void kill_children() {
  DIR* const processes = ::opendir("/proc");
  if (processes == nullptr) return;
  while (const dirent* entry = ::readdir(processes))
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == ::getpid())
      ::kill(std::atoi(entry->d_name), SIGKILL);
  ::closedir(processes);
}

[[noreturn]] void become(char** program, const char* folder, pid_t subreaper) {
  ::setsid();  // a program that ends its own process group must not end the subreaper
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != subreaper) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::chdir(folder) == 0) ::execv(program[0], program);
  const SubreaperReport report{SubreaperReport::cannot_start, errno, 0};
  (void)!::write(report_fd, &report, sizeof report);
  ::_exit(127);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  ::close_range(report_fd + 1, ~0U, 0);
  ::fcntl(report_fd, F_SETFD, FD_CLOEXEC);
  ::prctl(PR_SET_NAME, "emplace-subreaper");
  sigset_t awaited;
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGCHLD);
  sigaddset(&awaited, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &awaited, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != std::atoi(argv[1])) return 1;  // the parent died before prctl was called
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);

  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) become(argv + 3, argv[2], self);
  if (child < 0) {
    const SubreaperReport report{SubreaperReport::cannot_start, errno, 0};
    return ::write(report_fd, &report, sizeof report) == sizeof report ? 0 : 1;
  }
  // From here on only the program has these ends of the pipes open.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);

  int status = 0;
  bool ended = false;
  const auto wait_for_dead = [&] {  // returns whether children are left
    pid_t dead = 0;
    int how = 0;
    while ((dead = ::waitpid(-1, &how, WNOHANG)) > 0)
      if (dead == child) {
        ended = true;
        status = how;
      }
    return dead == 0;
  };
  bool left = true;
  while (left && !ended) {
    siginfo_t signal;
    if (::sigwaitinfo(&awaited, &signal) == SIGTERM) break;
    left = wait_for_dead();
  }
  left = wait_for_dead();
  for (int round = 0; left && round < most_kill_rounds; ++round) {
    kill_children();
    ::nanosleep(&between_rounds, nullptr);
    left = wait_for_dead();
  }
  const bool by_signal = WIFSIGNALED(status);
  const SubreaperReport report{by_signal ? SubreaperReport::ended_by_signal : SubreaperReport::exited,
                               by_signal ? WTERMSIG(status) : WEXITSTATUS(status), left ? 1 : 0};
  return ::write(report_fd, &report, sizeof report) == sizeof report ? 0 : 1;
}
