// A user's program while it runs: a subreaper runs it, and what it prints is collected within limits.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "evaluate/command/program_run.hpp"

namespace emplace::evaluate {

// A file descriptor that is closed with its owner.
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
  void close();

 private:
  int fd_ = -1;
};

// A pipe that a program writes to and we read from; or, the other way, a socket (writing to a pipe that nobody reads
// any more would raise a signal).
struct Pipe {
  enum Kind { none, output, input };
  Descriptor ours, theirs;

  explicit Pipe(Kind kind);
  // Appends to `text` what can be read without waiting; closes our end at the end of what the program writes.
  void read_into(std::string& text);
  // Writes what can be written without waiting, and removes it from `text`; all of it if nobody reads any more.
  void write_from(std::string& text);
};

// The destructor ends the program and all its processes, and waits for their end, also after an exception.
class ProgramProcess {
 public:
  // Standard input is the file `input` from its beginning.
  ProgramProcess(const ProgramToRun& program, int input);
  // Standard input is what send() sends.
  explicit ProgramProcess(const ProgramToRun& program);
  ~ProgramProcess();
  ProgramProcess(const ProgramProcess&) = delete;
  ProgramProcess& operator=(const ProgramProcess&) = delete;

  void send(const std::string& text) { to_send_ += text; }
  // Sends and reads until `enough` of output() or until the end of the program, for at most its time limit. Returns ""
  // if there is enough, or if the program ended with exit code 0; else what happened, as "it ...", and then no process
  // of it is left. A stop point.
  std::string read_until(const std::function<bool(const std::string& output)>& enough);
  // Reads what there is without waiting.
  void read() { exchange(std::chrono::milliseconds(0)); }
  [[nodiscard]] std::string& output() { return output_; }
  // ": 'line'" with the last line on standard error that is not blank; "" if there is none.
  [[nodiscard]] std::string last_error() const;
  void forget_errors() { errors_.clear(); }
  // Ends standard input, and gives the program a second to end by itself.
  void end_input();

 private:
  void start(int input);
  [[nodiscard]] bool has_ended() const { return !report_pipe_.ours.is_open(); }
  [[nodiscard]] std::string how_it_ended() const;
  void exchange(std::chrono::milliseconds time);

  const ProgramToRun& program_;
  Pipe input_pipe_, output_pipe_{Pipe::output}, errors_pipe_{Pipe::output}, report_pipe_{Pipe::output};
  std::string to_send_, output_, errors_, reports_;
  pid_t subreaper_ = -1;
};

}  // namespace emplace::evaluate
