// Whether this machine has what the program needs: the right CPU and libraries, cores, memory, a clock, files that stay
// as they were written, MPI.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/library.hpp"
#include "dist/ping.hpp"
#include "doctor/check.hpp"

namespace emplace::doctor {

// What a control group and those above it allow; nothing where there is no limit.
struct GroupLimits {
  std::optional<double> cores;
  std::optional<std::uint64_t> memory_bytes;
};
// `membership`: what /proc/self/cgroup says; `root`: where the groups are mounted (/sys/fs/cgroup). Versions 1 and 2.
GroupLimits group_limits(const std::string& membership, const std::string& root);
// Of this process.
GroupLimits group_limits();

// What this build is, with which options it was compiled, for ranks to compare.
std::string program_text();

Check check_program();
// `groups` as group_limits() gives them.
Check check_cores(std::span<const std::int32_t> allowed, const GroupLimits& groups);
Check check_memory(const GroupLimits& groups);
Check check_clock();
// A folder in which runs or temporary files are to be made.
Check check_folder(const std::string& name, const std::string& path);
// Writes checkpoints into `folder`, reads them back, and damages one, which must be found out.
Check check_checkpoints(const std::string& folder);
// A library's version; other headers than what runs is a warning.
Check check_library(const Library& library);
// All but those of the command line, which the program itself knows.
std::vector<Library> libraries();
// mpirun, a batch system, a browser: what some commands start.
Checks check_tools();
// The library that emplace-measure-onnx would load.
Check check_onnx_runtime();

// Whether MPI starts in a process by itself, found out in a child: where it cannot, it ends the process. Not where MPI
// runs already.
Check check_mpi_alone();
// What is to be said of the ranks of a job: speed, more ranks than cores, another build than rank 0's.
Checks check_ranks(std::span<const dist::RankReport> ranks);

// "0-3, 8": cores as people write them.
std::string core_list(std::span<const std::int32_t> cores);

}  // namespace emplace::doctor
