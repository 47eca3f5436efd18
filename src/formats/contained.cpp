#include "formats/contained.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <new>

#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

using Step = std::atomic<std::uint64_t>;
static_assert(Step::is_always_lock_free);  // it is shared between two processes

// A page of memory that parent and child share.
class SharedStep {
 public:
  SharedStep() : page_(::mmap(nullptr, sizeof(Step), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (page_ == MAP_FAILED) throw EnvironmentError("cannot get shared memory: {}", std::strerror(errno));
    new (page_) Step(0);
  }
  ~SharedStep() { ::munmap(page_, sizeof(Step)); }
  SharedStep(const SharedStep&) = delete;
  SharedStep& operator=(const SharedStep&) = delete;
  Step& operator*() const { return *static_cast<Step*>(page_); }

 private:
  void* page_;
};

void limit(decltype(RLIMIT_CPU) what, std::uint64_t most) {
  const rlimit value{most, most};
  ::setrlimit(what, &value);
}

std::uint64_t address_space_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void send_all(int pipe, const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t put = ::write(pipe, text.data() + sent, text.size() - sent);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) ::_exit(1);
    sent += static_cast<std::size_t>(put);
  }
}

std::string receive_all(int pipe) {
  std::string text;
  char buffer[64 << 10];
  for (;;) {
    const ssize_t got = ::read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// The first character of the answer: whether the rest is the result or an error.
constexpr char is_result = 'R';
constexpr char is_input_error = 'I';
constexpr char is_other_error = 'X';

[[noreturn]] void run_child(int pipe, pid_t parent, const Containment& limits,
                            const std::function<std::string(Step&)>& work, Step& step) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  // Restores the default actions, since MPI's handlers would print a stack trace.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGTERM, SIGINT, SIGUSR1})
    std::signal(signal, SIG_DFL);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  limit(RLIMIT_AS, address_space_in_use() + limits.memory_bytes);
  std::string answer;
  try {
    answer = is_result + work(step);
  } catch (const InputError& error) {
    answer = is_input_error + std::string(error.what());
  } catch (const std::exception& error) {
    answer = is_other_error + std::string(error.what());
  }
  send_all(pipe, answer);
  ::_exit(0);
}

}  // namespace

Contained run_contained(const Containment& limits, const std::function<std::string(Step&)>& work) {
  const SharedStep step;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw EnvironmentError("cannot open a pipe to a child process: {}", std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) {
    const int why = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw EnvironmentError("cannot start a child process: {}", std::strerror(why));
  }
  if (child == 0) run_child(ends[1], parent, limits, work, *step);
  ::close(ends[1]);
  std::string answer = receive_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }

  Contained done;
  done.step = *step;
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    done.killed = signal == SIGXCPU || signal == SIGKILL
                      ? fmt::format("more than {} s of work or too little memory", limits.cpu_seconds)
                      : fmt::format("signal {} ({})", signal, ::strsignal(signal));
    return done;
  }
  if (WEXITSTATUS(status) != 0 || answer.empty())
    throw BugError(fmt::format("a child process ended with status {}", WEXITSTATUS(status)));
  const char kind = answer.front();
  answer.erase(0, 1);
  if (kind == is_input_error) throw InputError(answer);
  if (kind == is_other_error) throw BugError(answer);
  done.result = std::move(answer);
  return done;
}

}  // namespace emplace::formats
