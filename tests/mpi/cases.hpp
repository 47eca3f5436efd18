// Shared by the MPI cases: the list of cases, random problems and placements, and evaluators that return outcomes
// without simulating.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::test {

// Run as `mpirun -np N mpi_cases NAME`: rank 0 runs `master`, the others call serve() with `factory`. A failing check
// throws an exception, which ends the job with exit code 1 and a message that names the place.
struct Case {
  const char* name;
  // Returns the exit code of the job.
  int (*master)(dist::World& world);
  dist::EvaluatorFactory (*factory)(int rank);
  // What the other ranks call instead of serve(), if not null.
  int (*worker)(dist::World& world) = nullptr;
};

std::span<const Case> cases();

inline dist::EvaluatorFactory simulate(int) { return evaluate::make_evaluator; }

// `op_count` ops on `device_count` devices with shared channels, a missing route, an op that one device cannot run, two
// co-location groups and memory that some placements exceed.
Problem random_problem(std::uint32_t seed, std::size_t op_count, std::size_t device_count);

// Random devices and, if `ordered`, a random topological order.
Placement random_placement(const Problem& problem, Stream& stream, bool ordered);

// Returns outcomes that depend on every byte of the placement, spread over the whole range of each field.
std::unique_ptr<evaluate::Evaluator> make_echo_evaluator(const evaluate::EvaluatorChoice& choice,
                                                         const evaluate::EvaluatorSetup& setup);

}  // namespace emplace::test
