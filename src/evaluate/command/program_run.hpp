// One run of a program of the user's: bounded in time and in what it prints, and nothing of it is left afterwards.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace emplace::evaluate {

struct ProgramToRun {
  std::vector<std::string> words;        // the program's absolute path and its arguments
  std::vector<std::string> environment;  // "NAME=value"
  std::string folder;                    // that it runs in
  double seconds = 0;                    // time limit
  std::size_t output_bytes = std::size_t{1} << 20;
};

struct ProgramEnd {
  std::string failure;  // "" where it ended with exit code 0 within its limits; else what happened, as "it ..."
  std::string output;   // what it printed
};

// Standard input is the file `input` from its beginning; it is read by nobody else meanwhile. The program and all that
// it started are over when this returns, and when this process dies. EnvironmentError where the system has no process
// or descriptor left.
ProgramEnd run_program(const ProgramToRun& program, int input);

// This text as a file for run_program() that cannot be written to; the caller closes it.
int input_file(const std::string& text);

// The environment of this process without what a launcher of MPI programs put there for it: a program that finds that
// would take itself for one of the launcher's ranks.
std::vector<std::string> environment_without_mpi();

// Where this program is: a path is looked for in `folder`, a name in the folders of PATH. InputError with the place
// where it is missing or cannot be executed.
std::string find_program(const std::string& program, const std::string& folder, const std::string& place);

}  // namespace emplace::evaluate
