// The ranks of an MPI job and their roles; no other public header is about MPI. Rank 0 is the master; the other ranks,
// the workers, evaluate placements until the master releases them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"

namespace emplace::dist {

class Communicator;  // MPI itself, private to src/dist
class WorkPool;      // work that workers share, private to src/dist

// Makes the evaluator of a worker (or of the only rank) from the master's choice. Tests pass factories of fake
// evaluators.
using EvaluatorFactory = std::function<std::unique_ptr<evaluate::Evaluator>(const evaluate::EvaluatorChoice& choice,
                                                                            const evaluate::EvaluatorSetup& setup)>;

// The messages that a rank sent and received (a broadcast is one message), their bytes, and how long the rank waited
// for messages.
struct Traffic {
  std::uint64_t messages = 0, bytes = 0;
  double waited_s = 0;

  void count(std::size_t message_bytes) {
    ++messages;
    bytes += message_bytes;
  }
};

// Thrown on the master of a part of a job if one of the part's workers failed; the message begins with the worker's
// rank and host.
class RankFailure : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

// Starts MPI when constructed and ends it when destroyed. Without mpirun there is one rank. Errors of MPI calls are
// thrown as EnvironmentErrors.
class World {
 public:
  World(int& argc, char**& argv);
  // Waits for the other ranks. If the master has not released the workers yet (because of an exception), it releases
  // them first, so that the job ends.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] bool is_master() const { return rank() == 0; }

  // Splits the job into parts: the ranks that pass the same number form a world of their own, in the order of their
  // ranks. Collective. The parts must be destroyed before this world, which has no workers of its own after the split.
  // The workers of a part serve one evaluator after another until the part is destroyed on its master; their failures
  // are thrown on that master and do not end the job.
  [[nodiscard]] std::unique_ptr<World> split(int part);
  [[nodiscard]] bool is_part() const { return is_part_; }

  // Flushes the output streams and ends the whole job at once with this exit code. Never returns.
  [[noreturn]] void abort(int code);

  [[nodiscard]] Communicator& communicator() { return *communicator_; }
  // For a master with workers: the pool of work that all clients of the workers use (src/dist/clients.hpp).
  [[nodiscard]] WorkPool& work_pool();
  [[nodiscard]] const Traffic& traffic() const;
  // The clock of MPI, in seconds; simulated time if the job is simulated (smpirun).
  [[nodiscard]] static double seconds();
  // True on a master whose workers are there to be used: neither released by release_workers() nor given away by
  // split().
  [[nodiscard]] bool has_workers() const { return has_workers_; }

 private:
  explicit World(std::unique_ptr<Communicator> part);
  friend void release_workers(World& world, int exit_code);
  friend int serve(World& world, const EvaluatorFactory& factory);

  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<WorkPool> work_pool_;
  bool has_workers_ = false;
  bool job_fails_ = false;
  bool is_part_ = false;
};

// Whether this process was started by mpirun, srun or smpirun. Does not start MPI.
bool started_by_mpi();
// The number of this job's processes on this host as the launcher says it; 1 if it does not say.
std::size_t ranks_on_this_host();

// For workers: receives problems and evaluates placements until the master releases this rank; returns the exit code
// that the master sent. An exception of the evaluator ends the whole job with one line on standard error (rank, host,
// message) and exit code 2 for bad input, else 1; in a part of a job it is sent to the part's master instead.
int serve(World& world, const EvaluatorFactory& factory = evaluate::make_evaluator);

// For the master: releases the workers, for example if it finds bad input before the training begins; does nothing if
// they are released already. The exit code of the job is that of rank 0, whatever code the workers get.
void release_workers(World& world, int exit_code);

}  // namespace emplace::dist
