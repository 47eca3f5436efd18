// A worker's end of the asynchronous controllers: as a controller, or as a worker of one.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "dist/controller_wire.hpp"
#include "emplace/dist/world.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::dist {

// The controller that a rank belongs to: ranks 1, 2, ... are divided equally among the controllers, in order, and the
// first ones get one more where they are not divisible. There are at least as many as controllers.
std::size_t controller_of(int rank, int ranks, std::size_t controllers);
// The rank of a controller, which is the first one of its group.
int rank_of_controller(std::size_t controller, int ranks, std::size_t controllers);

// What the workers got with the problems. All must outlive the work.
struct ControllerTask {
  std::span<const Problem* const> problems;
  const evaluate::Scoring& scoring;
  const evaluate::EvaluatorChoice& choice;
  const EvaluatorFactory& factory;
};

// A rank's place in its group. The constructor is collective, together with the master's part of
// make_mpi_controllers().
class Controllership {
 public:
  Controllership(World& world, std::span<const std::byte> plan);

  // Computes the contributions of batches, or serves the group's controller, until the master ends it. A release is
  // left for serve(), the caller.
  void work(const ControllerTask& task) const;
  // For a rank that has failed: as a controller it releases its workers, else it serves the controller.
  void leave(const EvaluatorFactory& factory) const;

 private:
  World& world_;
  SentControllerPlan plan_;
  std::size_t controller_;
  std::unique_ptr<World> part_;
};

}  // namespace emplace::dist
