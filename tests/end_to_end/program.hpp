// Runs the program as a user does: command lines in, output and exit codes out.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.hpp"

namespace emplace::test {

inline std::vector<std::string> command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), EMPLACE_PROGRAM);
  return arguments;
}

inline Finished emplace_run(std::vector<std::string> arguments) { return run(command(std::move(arguments))); }
inline Finished emplace_run(int ranks, std::vector<std::string> arguments) {
  return run(under_mpirun(ranks, command(std::move(arguments))));
}

// The same for a job that is to be killed: `mark` is in the environment of each of its processes, and the files that
// they leave are in `folder`.
inline std::vector<std::string> marked_job(int ranks, std::vector<std::string> arguments, const std::string& mark,
                                           const std::string& folder) {
  std::vector<std::string> job = under_mpirun(ranks, command(std::move(arguments)));
  job.insert(job.begin(), {"env", mark, "TMPDIR=" + folder, "OMPI_MCA_btl_vader_backing_directory=" + folder});
  return job;
}

// A training step that is small enough to learn on within a test.
inline const std::string small_training = "zoo:nmt?layers=2&sequence=4&training=true";

// An example of two ops on two devices: op a on gpu:0 and b on cpu:0 take 1 ms + 10 us + 4096 B / 12 GB/s + 10 ms.
inline const char* const example_problem = R"({ "emplace": "problem/1", "name": "two-device chain",
  "devices":  [{"name": "cpu:0", "kind": "cpu", "memory_bytes": 68719476736}, {"name": "gpu:0", "kind": "gpu", "memory_bytes": 12884901888}],
  "channels": [{"name": "h2d", "latency_s": 1e-5, "bytes_per_s": 1.2e10}, {"name": "d2h", "latency_s": 1e-5, "bytes_per_s": 1.2e10}],
  "routes":   [{"from": 0, "to": 1, "channels": [0]}, {"from": 1, "to": 0, "channels": [1]}],
  "ops":      [{"name": "a", "type": "MatMul", "seconds": [0.010, 0.001], "resident_bytes": 0, "scratch_bytes": 0, "colocate": null},
               {"name": "b", "type": "Relu",   "seconds": [0.010, null]}],
  "tensors":  [{"from": 0, "bytes": 4096, "to": [1]}] })";

}  // namespace emplace::test
