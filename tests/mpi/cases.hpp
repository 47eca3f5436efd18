// What the MPI cases share: the list of cases, random problems and placements, and evaluators that answer without a
// simulator.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emplace/base/random.hpp"
#include "emplace/dist/world.hpp"

namespace emplace::test {

// Run as `mpirun -np N mpi_cases NAME`: rank 0 runs `master`, the others serve with `factory`. A failing check is an
// exception: it ends the job with exit code 1 and says where.
struct Case {
  const char* name;
  // Exit code of the job.
  int (*master)(dist::World& world);
  dist::EvaluatorFactory (*factory)(int rank);
  // What the other ranks do in place of serving.
  int (*worker)(dist::World& world) = nullptr;
};

std::span<const Case> cases();

inline dist::EvaluatorFactory simulate(int) { return evaluate::make_evaluator; }

// `op_count` ops on `device_count` devices with shared channels, a missing route, an op that one device cannot run, two
// co-location groups and memory that some placements exceed.
Problem random_problem(std::uint32_t seed, std::size_t op_count, std::size_t device_count);

// Devices at random and, where wanted, a random topological order.
Placement random_placement(const Problem& problem, Stream& stream, bool ordered);

// Answers with numbers that depend on every byte of the placement, spread over the whole range of each field.
std::unique_ptr<evaluate::Evaluator> make_echo_evaluator(const evaluate::EvaluatorChoice& choice,
                                                         const evaluate::EvaluatorSetup& setup);

}  // namespace emplace::test
