#include "evaluate/command/program_run.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "evaluate/command/program_process.hpp"

namespace emplace::evaluate {

ProgramEnd run_program(const ProgramToRun& program, int input) {
  if (::lseek(input, 0, SEEK_SET) != 0)
    throw EnvironmentError("a program's input cannot be read: {}", std::strerror(errno));
  ProgramProcess process(program, input);
  ProgramEnd end;
  end.failure = process.read_until([](const std::string&) { return false; });
  end.output = std::move(process.output());
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

KeptProgram::KeptProgram(ProgramToRun program) : program_(std::move(program)) {}

KeptProgram::~KeptProgram() {
  if (process_) process_->end_input();
}

void KeptProgram::stop() { process_.reset(); }

ProgramEnd KeptProgram::ask(const std::string& line) {
  // Any way out but an answer leaves no process, an exception too: a late answer would be taken for that of the next
  // line.
  std::unique_ptr<ProgramProcess> process = std::move(process_);
  if (!process) process = std::make_unique<ProgramProcess>(program_);
  std::string& output = process->output();
  process->read();
  if (!output.empty()) return {fmt::format("it printed {} before it was asked", quote(output)), {}};

  process->send(line + "\n");
  ProgramEnd end;
  end.failure = process->read_until([](const std::string& text) { return text.find('\n') != std::string::npos; });
  const std::size_t length = output.find('\n');
  if (end.failure.empty() && length == std::string::npos)
    end.failure = "it ended without an answer" + process->last_error();
  if (end.failure.empty() && length + 1 != output.size())
    end.failure = fmt::format("it printed {}, wanted one line", quote(output));
  if (!end.failure.empty()) return end;
  end.output = output.substr(0, length);
  output.clear();
  process->forget_errors();
  process_ = std::move(process);
  return end;
}

}  // namespace emplace::evaluate
