// Checks whether this machine has what the program needs: the right CPU and libraries, cores, memory, a clock, a file
// system that keeps files as they were written, MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "base/machine_limits.hpp"
#include "dist/ping.hpp"
#include "doctor/check.hpp"

namespace emplace::doctor {

// Version, compiler, options and size of this build, which ranks compare.
std::string program_text();

Check check_program();
// `groups`: the result of group_limits().
Check check_cores(std::span<const std::int32_t> allowed, const GroupLimits& groups);
Check check_memory(const GroupLimits& groups);
Check check_clock();
// Checks a folder in which runs or temporary files will be written.
Check check_folder(const std::string& name, const std::string& path);
// Writes checkpoints into `folder`, reads them back, and damages one: reading it must fail.
Check check_checkpoints(const std::string& folder);
// A library's version; a warning if the headers are of another version than the running library.
Check check_library(const Library& library);
// All libraries but that of the command line, which only the program includes.
std::vector<Library> libraries();
// Checks for programs that some commands start: mpirun, a batch system, a browser.
Checks check_tools();
// The library that emplace-measure-onnx would load.
Check check_onnx_runtime();

// Checks whether MPI starts in a single process. It is tried in a child process, because MPI ends the process if it
// cannot start. Must not be called if MPI is already running.
Check check_mpi_alone();
// Checks the ranks of a job: slow messages, more ranks than cores, another build than that of rank 0.
Checks check_ranks(std::span<const dist::RankReport> ranks);

// A list of cores as text: "0-3, 8".
std::string core_list(std::span<const std::int32_t> cores);

}  // namespace emplace::doctor
