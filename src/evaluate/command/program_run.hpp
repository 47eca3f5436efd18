// Runs of a user's program, with a limit on its time and on its output, after which none of its processes is left.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace emplace::evaluate {

struct ProgramToRun {
  std::vector<std::string> words;        // the program's absolute path and its arguments
  std::vector<std::string> environment;  // "NAME=value"
  std::string folder;                    // the folder in which it runs
  double seconds = 0;                    // time limit of a run, or of an answer
  std::size_t output_bytes = std::size_t{1} << 20;
};

struct ProgramEnd {
  std::string failure;  // "" if it ended with exit code 0 within its limits; else what happened, as "it ..."
  std::string output;   // what it printed on standard output
};

// Standard input is the file `input` from its beginning; nothing else may read that file meanwhile. When this returns,
// and when this process dies, the program and all processes that it started have ended. EnvironmentError if the system
// has no process or descriptor left.
ProgramEnd run_program(const ProgramToRun& program, int input);

// A read-only file in memory with this text, for run_program(). The caller closes the descriptor.
int input_file(const std::string& text);

class ProgramProcess;

// A program that is started once and answers each line that it reads with one line. When this is destroyed, and when
// this process dies, the program and all processes that it started have ended.
class KeptProgram {
 public:
  explicit KeptProgram(ProgramToRun program);
  ~KeptProgram();
  KeptProgram(const KeptProgram&) = delete;
  KeptProgram& operator=(const KeptProgram&) = delete;

  // Starts the program if it does not run. `output` of the result is the line of the answer; after a failure the
  // program has ended, and the next call starts it again. EnvironmentError as run_program().
  ProgramEnd ask(const std::string& line);
  // Ends the program, so that the next call of ask() starts it again.
  void stop();

 private:
  const ProgramToRun program_;
  std::unique_ptr<ProgramProcess> process_;  // null: it does not run
};

// The environment of this process without the variables that an MPI launcher set: with them, a user's program that uses
// MPI would start as one of the launcher's ranks.
std::vector<std::string> environment_without_mpi();

// The absolute path of this program: a path is looked up in `folder`, a name in the folders of PATH. InputError at
// `place` if it is missing or cannot be executed.
std::string find_program(const std::string& program, const std::string& folder, const std::string& place);

}  // namespace emplace::evaluate
