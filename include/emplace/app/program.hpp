// The whole program `emplace` as a function: for programs that add placers, policies, evaluators or readers of their
// own and offer them through the same commands.
#pragma once

namespace emplace::app {

// Runs the command that the arguments name, under mpirun with all ranks, and returns the exit code (docs/formats.md,
// exit codes). Every rank calls it once, after the program's own entries were registered (base/registry.hpp).
int run_program(int argc, char** argv);

}  // namespace emplace::app
