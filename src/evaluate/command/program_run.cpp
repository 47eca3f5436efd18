#include "evaluate/command/program_run.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/interrupt.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "evaluate/command/subreaper/subreaper.hpp"
#include "evaluate/command/subreaper_image.hpp"

namespace emplace::evaluate {

namespace {

using Clock = std::chrono::steady_clock;

// The last bytes of the program's standard error are kept, for the reason of a failure.
constexpr std::size_t kept_errors = 4096;
// How long to wait for the subreaper to end; it stops killing processes after about 5 s.
constexpr std::chrono::seconds subreaper_grace{15};

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read, write;

  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      throw EnvironmentError("cannot make a pipe to a program: {}", std::strerror(errno));
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }

  // Appends to `text` what can be read without waiting; closes the pipe at its end.
  void read_into(std::string& text) {
    char buffer[65536];
    for (int parts = 0; parts < 16 && read.is_open(); ++parts) {  // stops even if the program never stops writing
      const ssize_t got = ::read(read.get(), buffer, sizeof buffer);
      if (got > 0) {
        text.append(buffer, static_cast<std::size_t>(got));
      } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
        read.close();
      } else if (errno == EAGAIN) {
        return;
      }
    }
  }
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

// The subreaper of one run. The destructor stops it and waits for it, also after an exception.
class Subreaper {
 public:
  Subreaper(const ProgramToRun& program, int input, const Pipe& output, const Pipe& errors, const Pipe& report) {
    std::vector<std::string> words{"emplace-subreaper", fmt::format("{}", ::getpid()), program.folder};
    words.insert(words.end(), program.words.begin(), program.words.end());
    const std::string image = fmt::format("/proc/self/fd/{}", subreaper_image());
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    // Descriptors are copied first to numbers above all of them, so that none is overwritten before it is copied.
    const int from[] = {input, output.write.get(), errors.write.get(), report.write.get()};
    int above = subreaper_image() + 1;
    for (const int fd : from) above = std::max(above, fd + 1);
    for (int i = 0; i < 4; ++i) ::posix_spawn_file_actions_adddup2(&actions, from[i], above + i);
    for (int i = 0; i < 4; ++i) ::posix_spawn_file_actions_adddup2(&actions, above + i, i);
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);  // workers ignore terminal signals; the program must not
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setflags(&attributes,
                               static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID));
    const int failed = ::posix_spawn(&pid_, image.c_str(), &actions, &attributes, pointers(words).data(),
                                     pointers(program.environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (failed != 0) throw EnvironmentError("cannot start a process for a program: {}", std::strerror(failed));
  }
  ~Subreaper() {
    stop();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  Subreaper(const Subreaper&) = delete;
  Subreaper& operator=(const Subreaper&) = delete;

  void stop() const { ::kill(pid_, SIGTERM); }
  void kill() const { ::kill(pid_, SIGKILL); }

 private:
  pid_t pid_ = -1;
};

std::string describe(const std::string& reports) {
  if (reports.size() < sizeof(SubreaperReport)) return "its result was lost: the process that supervised it was killed";
  SubreaperReport report;
  std::memcpy(&report, reports.data(), sizeof report);
  if (report.kind == SubreaperReport::cannot_start)
    return fmt::format("it cannot be started: {}{}", std::strerror(report.value),
                       report.value == ENOEXEC ? " (a script begins with a line such as #!/bin/sh)" : "");
  if (report.kind == SubreaperReport::ended_by_signal)
    return fmt::format("it was ended by signal {} ({})", report.value, ::strsignal(report.value));
  if (report.value != 0) return fmt::format("it ended with exit code {}", report.value);
  if (report.left_over != 0) return "it left a process behind that cannot be killed";
  return {};
}

// The last line that is not blank, as ": 'line'", or "" if there is none.
std::string last_line(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const auto before = text.find_last_of('\n');
  return ": " + quote(before == std::string_view::npos ? text : text.substr(before + 1));
}

}  // namespace

ProgramEnd run_program(const ProgramToRun& program, int input) {
  if (::lseek(input, 0, SEEK_SET) != 0)
    throw EnvironmentError("a program's input cannot be read: {}", std::strerror(errno));
  Pipe output, errors, report;
  const auto begin = Clock::now();
  Subreaper subreaper(program, input, output, errors, report);
  for (Pipe* pipe : {&output, &errors, &report}) pipe->write.close();

  ProgramEnd end;
  std::string said, reports;
  auto deadline = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(program.seconds));
  bool stopped = false;
  const auto stop = [&](std::string why) {
    end.failure = std::move(why);
    subreaper.stop();
    stopped = true;
    deadline = Clock::now() + subreaper_grace;
  };
  while (report.read.is_open()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 && stopped) {
      subreaper.kill();
      break;
    }
    if (left <= 0) {
      stop(fmt::format("it ran longer than {}", human_seconds(program.seconds)));
      continue;
    }
    pollfd waiting[] = {{output.read.get(), POLLIN, 0}, {errors.read.get(), POLLIN, 0}, {report.read.get(), POLLIN, 0}};
    stop_point();
    constexpr long between_stop_points = 100;  // ms
    if (::poll(waiting, 3, static_cast<int>(std::min<long>(left, between_stop_points))) < 0 && errno != EINTR)
      throw EnvironmentError("cannot wait for a program: {}", std::strerror(errno));
    output.read_into(end.output);
    errors.read_into(said);
    report.read_into(reports);
    if (said.size() > kept_errors) said.erase(0, said.size() - kept_errors);
    if (end.output.size() <= program.output_bytes) continue;
    if (!stopped) stop(fmt::format("it printed more than {}", human_bytes(static_cast<Bytes>(program.output_bytes))));
    end.output.clear();
  }
  // The program has ended; the rest of its output is still in the pipes.
  output.read_into(end.output);
  errors.read_into(said);
  if (end.output.size() > program.output_bytes && !stopped)
    end.failure = fmt::format("it printed more than {}", human_bytes(static_cast<Bytes>(program.output_bytes)));
  else if (!stopped)
    end.failure = describe(reports);
  if (!end.failure.empty()) end.failure += last_line(said);
  return end;
}

int input_file(const std::string& text) {
  Descriptor file(::memfd_create("placement", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.is_open()) throw EnvironmentError("no file in memory: {}", std::strerror(errno));
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t put = ::write(file.get(), text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw EnvironmentError("no file in memory: {}", std::strerror(errno));
    done += static_cast<std::size_t>(put);
  }
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  return file.release();
}

}  // namespace emplace::evaluate
