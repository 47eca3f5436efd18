// Ranks and roles: the only door to MPI. Rank 0 is the master; the others serve evaluations until told to stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"

namespace emplace::dist {

class Communicator;  // MPI itself, private to src/dist
class WorkPool;      // work that workers share, private to src/dist

// What a worker (or the only rank) evaluates with: the evaluator that the master chose, or a test's fake.
using EvaluatorFactory = std::function<std::unique_ptr<evaluate::Evaluator>(const evaluate::EvaluatorChoice& choice,
                                                                            const evaluate::EvaluatorSetup& setup)>;

// What a rank sent and received (a broadcast is one message), and how long it had nothing to do but wait.
struct Traffic {
  std::uint64_t messages = 0, bytes = 0;
  double waited_s = 0;

  void count(std::size_t message_bytes) {
    ++messages;
    bytes += message_bytes;
  }
};

// A worker of a part of a job failed; what it says begins with its rank and host.
class RankFailure : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

// MPI from construction to destruction. Works without mpirun too (one rank). Errors of MPI are EnvironmentErrors.
class World {
 public:
  World(int& argc, char**& argv);
  // Waits for the other ranks. A master that leaves workers unreleased (an exception on its way) releases them first,
  // so that the job ends.
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] bool is_master() const { return rank() == 0; }

  // A part of the job as a world of its own: the ranks that give the same number, in their order. Collective; the parts
  // end before the whole, which has nobody left to serve it. A part's workers serve one evaluator after the other until
  // the part ends on its master, and their failures are exceptions there, which end nothing else.
  [[nodiscard]] std::unique_ptr<World> split(int part);
  [[nodiscard]] bool is_part() const { return is_part_; }

  // Ends the whole job at once with this code, after the message has been printed. Never returns.
  [[noreturn]] void abort(int code);

  [[nodiscard]] Communicator& communicator() { return *communicator_; }
  // Master, with workers: what the clients of the workers share.
  [[nodiscard]] WorkPool& work_pool();
  [[nodiscard]] const Traffic& traffic() const;
  // Of MPI: simulated time where the job is simulated (smpirun).
  [[nodiscard]] static double seconds();
  // False once release_workers() was called: nobody is there to serve.
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

// Was this process started by mpirun, srun or smpirun? Answers without starting MPI.
bool started_by_mpi();

// Workers: receives problems and serves evaluations; returns when the master releases it, with the exit code that the
// master wants the worker to end with. An exception of the evaluator ends the whole job with one line on standard error
// (rank, host, message) and exit code 2 for bad input, else 1.
int serve(World& world, const EvaluatorFactory& factory = evaluate::make_evaluator);

// Master: releases the workers (bad input found before the training began, say); nothing if they are released already.
// The job's exit code is rank 0's, whatever the workers'.
void release_workers(World& world, int exit_code);

}  // namespace emplace::dist
