// Ranks and roles: the only door to MPI. Rank 0 is the master; the others serve evaluations until told to stop.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/evaluator.hpp"

namespace emplace {

// MPI from construction to destruction. Works without mpirun too (one rank).
class World {
 public:
  World(int& argc, char**& argv);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool is_master() const { return rank_ == 0; }

  // Ends the whole job at once with this code, after the message has been printed. Never returns.
  [[noreturn]] void abort(int code);

 private:
  int rank_ = 0;
  int size_ = 1;
};

// Was this process started by mpirun (or srun)? Answers without starting MPI.
bool started_by_mpi();

// Master: broadcasts the problems once; each evaluate() hands pieces to idle workers and places the outcomes by index.
// With one rank it evaluates in process. Its destructor releases the workers.
std::unique_ptr<Evaluator> make_mpi_evaluator(World& world, std::span<const Problem* const> problems,
                                              Schedule schedule);

// Workers: receives problems and serves evaluations; returns when the master releases it, with the exit code that the
// master wants the worker to end with.
int serve(World& world);

// Master: releases the workers without any problem (bad input found before the training began).
void release_workers(World& world, int exit_code);

}  // namespace emplace
