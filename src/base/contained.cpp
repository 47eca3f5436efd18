#include "base/contained.hpp"

#include <fcntl.h>
#include <poll.h>
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

namespace emplace {

namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// A page of memory that parent and child share.
class SharedWork {
 public:
  SharedWork()
      : page_(::mmap(nullptr, sizeof(ContainedWork), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (page_ == MAP_FAILED) throw EnvironmentError("cannot get shared memory: {}", std::strerror(errno));
    new (page_) ContainedWork;
  }
  ~SharedWork() { ::munmap(page_, sizeof(ContainedWork)); }
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;
  ContainedWork& operator*() const { return *static_cast<ContainedWork*>(page_); }
  ContainedWork* operator->() const { return &**this; }

 private:
  void* page_;
};

// A forked child, which ends with this object at the latest.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  ~Child() {
    if (id_ > 0) ::kill(id_, SIGKILL), static_cast<void>(status());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Waits for its end.
  int status() {
    int status = 0;
    while (::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
    }
    id_ = 0;
    return status;
  }

 private:
  pid_t id_;
};

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_, O_CLOEXEC) != 0)
      throw EnvironmentError("cannot open a pipe to a child process: {}", std::strerror(errno));
  }
  ~Pipe() {
    ::close(ends_[0]);
    close_input();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  [[nodiscard]] int output() const { return ends_[0]; }
  [[nodiscard]] int input() const { return ends_[1]; }
  void close_input() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
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

// Reads until the child closes its end, and passes on a request to stop.
std::string receive_all(int pipe, const std::function<bool()>& stop, ContainedWork& work) {
  constexpr int between_questions = 10;  // ms
  std::string text;
  char buffer[64 << 10];
  for (;;) {
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, stop && !work.stop ? between_questions : -1);
    if (stop && !work.stop) work.stop = stop();
    if (ready <= 0) continue;
    const ssize_t got = ::read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

// The first character of the answer: whether the rest is the result or an error.
constexpr char is_result = 'R';
constexpr char is_input_error = 'I';
constexpr char is_lack_of_memory = 'M';
constexpr char is_other_error = 'X';

// A failed assertion prints a message; the parent says what happened.
void silence_output() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, output);
}

// An exception of a foreign type ends the child like a crash.
[[noreturn]] void run_child(int pipe, pid_t parent, const Containment& limits,
                            const std::function<std::string(ContainedWork&)>& work, ContainedWork& shared) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  // Restores the default actions, since MPI's handlers would print a stack trace.
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU}) std::signal(signal, SIG_DFL);
  // A terminal sends Ctrl-C to all processes of the program; the parent decides whether the child ends.
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) std::signal(signal, SIG_IGN);
  silence_output();
  limit(RLIMIT_CORE, 0);
  if (limits.cpu_seconds) limit(RLIMIT_CPU, *limits.cpu_seconds);
  if (limits.memory_bytes) limit(RLIMIT_AS, address_space_in_use() + *limits.memory_bytes);
  std::string answer;
  try {
    answer = is_result + work(shared);
  } catch (const InputError& error) {
    answer = is_input_error + std::string(error.what());
  } catch (const std::bad_alloc&) {
    answer = is_lack_of_memory;
  } catch (const std::exception& error) {
    answer = is_other_error + std::string(error.what());
  }
  send_all(pipe, answer);
  ::_exit(0);
}

std::string killed_by(int signal, const Containment& limits) {
  if (limits.cpu_seconds && (signal == SIGXCPU || signal == SIGKILL))
    return fmt::format("more than {} s of work or too little memory", *limits.cpu_seconds);
  return fmt::format("signal {} ({})", signal, ::strsignal(signal));
}

}  // namespace

Contained run_contained(const Containment& limits, const std::function<std::string(ContainedWork&)>& work) {
  const SharedWork shared;
  if (limits.stop) shared->stop = limits.stop();
  Pipe pipe;
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id < 0) throw EnvironmentError("cannot start a child process: {}", std::strerror(errno));
  if (id == 0) run_child(pipe.input(), parent, limits, work, *shared);
  Child child(id);
  pipe.close_input();
  std::string answer = receive_all(pipe.output(), limits.stop, *shared);
  const int status = child.status();

  Contained done;
  done.step = shared->step;
  if (WIFSIGNALED(status)) {
    done.killed = killed_by(WTERMSIG(status), limits);
    return done;
  }
  if (WEXITSTATUS(status) != 0 || answer.empty())
    throw BugError(fmt::format("a child process ended with status {}", WEXITSTATUS(status)));
  const char kind = answer.front();
  answer.erase(0, 1);
  if (kind == is_input_error) throw InputError(answer);
  if (kind == is_lack_of_memory) throw std::bad_alloc();
  if (kind == is_other_error) throw BugError(answer);
  done.result = std::move(answer);
  return done;
}

}  // namespace emplace
