#include "evaluate/command/program_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <vector>

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
// How long a program may take to end once its input has ended.
constexpr std::chrono::seconds input_grace{1};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

}  // namespace

void Descriptor::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Pipe::Pipe(Kind kind) {
  if (kind == none) return;
  int ends[2];
  if ((kind == output ? ::pipe2(ends, O_CLOEXEC) : ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) != 0)
    throw EnvironmentError("cannot make a pipe to a program: {}", std::strerror(errno));
  ours = Descriptor(ends[0]);
  theirs = Descriptor(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

void Pipe::read_into(std::string& text) {
  char buffer[65536];
  for (int parts = 0; parts < 16 && ours.is_open(); ++parts) {  // stops even if the program never stops writing
    const ssize_t got = ::read(ours.get(), buffer, sizeof buffer);
    if (got > 0) {
      text.append(buffer, static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      ours.close();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

void Pipe::write_from(std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t put = ::send(ours.get(), text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) break;
    done = put < 0 ? text.size() : done + static_cast<std::size_t>(put);
  }
  text.erase(0, done);
}

ProgramProcess::ProgramProcess(const ProgramToRun& program, int input) : program_(program), input_pipe_(Pipe::none) {
  start(input);
}

ProgramProcess::ProgramProcess(const ProgramToRun& program) : program_(program), input_pipe_(Pipe::input) {
  start(input_pipe_.theirs.get());
}

void ProgramProcess::start(int input) {
  std::vector<std::string> words{"emplace-subreaper", fmt::format("{}", ::getpid()), program_.folder};
  words.insert(words.end(), program_.words.begin(), program_.words.end());
  const std::string image = fmt::format("/proc/self/fd/{}", subreaper_image());
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  // Descriptors are copied first to numbers above all of them, so that none is overwritten before it is copied.
  const int from[] = {input, output_pipe_.theirs.get(), errors_pipe_.theirs.get(), report_pipe_.theirs.get()};
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
  const int failed = ::posix_spawn(&subreaper_, image.c_str(), &actions, &attributes, pointers(words).data(),
                                   pointers(program_.environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) throw EnvironmentError("cannot start a process for a program: {}", std::strerror(failed));
  for (Pipe* pipe : {&input_pipe_, &output_pipe_, &errors_pipe_, &report_pipe_}) pipe->theirs.close();
}

ProgramProcess::~ProgramProcess() {
  ::kill(subreaper_, SIGTERM);
  while (::waitpid(subreaper_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void ProgramProcess::exchange(std::chrono::milliseconds time) {
  pollfd waiting[] = {{output_pipe_.ours.get(), POLLIN, 0},
                      {errors_pipe_.ours.get(), POLLIN, 0},
                      {report_pipe_.ours.get(), POLLIN, 0},
                      {to_send_.empty() ? -1 : input_pipe_.ours.get(), POLLOUT, 0}};
  if (::poll(waiting, std::size(waiting), static_cast<int>(time.count())) < 0 && errno != EINTR)
    throw EnvironmentError("cannot wait for a program: {}", std::strerror(errno));
  input_pipe_.write_from(to_send_);
  output_pipe_.read_into(output_);
  errors_pipe_.read_into(errors_);
  report_pipe_.read_into(reports_);
  if (errors_.size() > kept_errors) errors_.erase(0, errors_.size() - kept_errors);
}

std::string ProgramProcess::read_until(const std::function<bool(const std::string&)>& enough) {
  std::string failure;
  auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(program_.seconds));
  bool stopped = false;
  const auto stop = [&](std::string why) {
    failure = std::move(why);
    ::kill(subreaper_, SIGTERM);
    stopped = true;
    deadline = Clock::now() + subreaper_grace;
  };
  const auto too_much = [&] {
    return fmt::format("it printed more than {}", human_bytes(static_cast<Bytes>(program_.output_bytes)));
  };
  while (!has_ended() && (stopped || !enough(output_))) {
    constexpr std::chrono::milliseconds between_stop_points{100};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 && stopped) {
      ::kill(subreaper_, SIGKILL);
      break;
    }
    if (left.count() <= 0) {
      stop(input_pipe_.ours.is_open()
               ? fmt::format("it printed no {} within {}", output_.empty() ? "answer" : "whole line",
                             human_seconds(program_.seconds))
               : fmt::format("it ran longer than {}", human_seconds(program_.seconds)));
      continue;
    }
    stop_point();
    exchange(std::min(left, between_stop_points));
    if (output_.size() <= program_.output_bytes) continue;
    if (!stopped) stop(too_much());
    output_.clear();
  }
  if (has_ended()) read();  // the rest is still in the pipes
  if (!stopped && output_.size() > program_.output_bytes) failure = too_much();
  if (!stopped && failure.empty() && has_ended() && !enough(output_)) failure = how_it_ended();
  return failure.empty() ? failure : failure + last_error();
}

void ProgramProcess::end_input() {
  input_pipe_.ours.close();
  const auto deadline = Clock::now() + input_grace;
  try {
    while (!has_ended() && Clock::now() < deadline) {
      exchange(std::chrono::milliseconds(20));
      output_.clear();
    }
  } catch (const EnvironmentError&) {  // the destructor ends it
  }
}

std::string ProgramProcess::how_it_ended() const {
  if (reports_.size() < sizeof(SubreaperReport))
    return "its result was lost: the process that supervised it was killed";
  SubreaperReport report;
  std::memcpy(&report, reports_.data(), sizeof report);
  if (report.kind == SubreaperReport::cannot_start)
    return fmt::format("it cannot be started: {}{}", std::strerror(report.value),
                       report.value == ENOEXEC ? " (a script begins with a line such as #!/bin/sh)" : "");
  if (report.kind == SubreaperReport::ended_by_signal)
    return fmt::format("it was ended by signal {} ({})", report.value, ::strsignal(report.value));
  if (report.value != 0) return fmt::format("it ended with exit code {}", report.value);
  if (report.left_over != 0) return "it left a process behind that cannot be killed";
  return {};
}

std::string ProgramProcess::last_error() const {
  std::string_view text = errors_;
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const auto before = text.find_last_of('\n');
  return ": " + quote(before == std::string_view::npos ? text : text.substr(before + 1));
}

}  // namespace emplace::evaluate
