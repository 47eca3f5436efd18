// Runs a program for a test: arguments, captured output, a time limit, a signal after a while.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace emplace::test {

struct Finished {
  int exit_code = -1;  // 128 + signal if a signal ended it
  std::string out;
  std::string err;
  bool timed_out = false;
};

// A child process in a process group of its own, so that everything it starts can be ended with it.
class Process {
 public:
  explicit Process(const std::vector<std::string>& arguments) {
    if (::pipe2(out_, O_CLOEXEC) != 0 || ::pipe2(err_, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork");
    if (pid_ == 0) {
      ::setpgid(0, 0);
      const int null = ::open("/dev/null", O_RDONLY);
      ::dup2(null, STDIN_FILENO);
      ::dup2(out_[1], STDOUT_FILENO);
      ::dup2(err_[1], STDERR_FILENO);
      ::execvp(argv[0], argv.data());
      ::_exit(127);
    }
    ::close(out_[1]);
    ::close(err_[1]);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_[0]);
    ::close(err_[0]);
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  void signal_group(int number) const { ::kill(-pid_, number); }

  // Reads until the program ends; kills its group at the limit.
  Finished wait(std::chrono::seconds limit = std::chrono::seconds(120)) {
    Finished result;
    const auto deadline = std::chrono::steady_clock::now() + limit;
    pollfd fds[2] = {{out_[0], POLLIN, 0}, {err_[0], POLLIN, 0}};
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0) {
        result.timed_out = true;
        ::kill(-pid_, SIGKILL);
        break;
      }
      if (::poll(fds, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) break;
      for (int i = 0; i < 2; ++i) {
        if (fds[i].fd < 0 || fds[i].revents == 0) continue;
        char buffer[65536];
        const ssize_t got = ::read(fds[i].fd, buffer, sizeof buffer);
        if (got > 0)
          (i == 0 ? result.out : result.err).append(buffer, static_cast<std::size_t>(got));
        else
          fds[i].fd = -1;
      }
    }
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
  }

 private:
  pid_t pid_ = -1;
  int out_[2];
  int err_[2];
};

inline Finished run(const std::vector<std::string>& arguments, std::chrono::seconds limit = std::chrono::seconds(120)) {
  return Process(arguments).wait(limit);
}

// Checks again and again until `condition` is true; returns false after a minute.
template <class Condition>
bool comes_true(const Condition& condition) {
  for (int i = 0; i < 12000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(5)))
    if (condition()) return true;
  return false;
}

// `mpirun -np RANKS arguments...` with the settings that let it run as root and with more ranks than cores.
inline std::vector<std::string> under_mpirun(int ranks, std::vector<std::string> arguments) {
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
  ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  ::setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 1);
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);
  std::vector<std::string> all = {"mpirun", "-np", std::to_string(ranks)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

}  // namespace emplace::test
