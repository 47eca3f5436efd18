// One run of a user's program, with a limit on its time and on its output, after which none of its processes is left.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace emplace::evaluate {

struct ProgramToRun {
  std::vector<std::string> words;        // the program's absolute path and its arguments
  std::vector<std::string> environment;  // "NAME=value"
  std::string folder;                    // the folder in which it runs
  double seconds = 0;                    // time limit of the run
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

// The environment of this process without the variables that an MPI launcher set: with them, a user's program that uses
// MPI would start as one of the launcher's ranks.
std::vector<std::string> environment_without_mpi();

// The absolute path of this program: a path is looked up in `folder`, a name in the folders of PATH. InputError at
// `place` if it is missing or cannot be executed.
std::string find_program(const std::string& program, const std::string& folder, const std::string& place);

}  // namespace emplace::evaluate
