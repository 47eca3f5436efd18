// A job that fails ends with the right exit code, wherever it fails.
#include "tests/mpi/failure_cases.hpp"
#include "dist/clients.hpp"

#include <fmt/core.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "emplace/base/error.hpp"

namespace emplace::test {

namespace {

enum class How { breaks, refuses_its_input, cannot_be_made };

class FailingEvaluator final : public evaluate::DirectEvaluator {
 public:
  explicit FailingEvaluator(How how) : how_(how) {
    if (how == How::cannot_be_made) throw EnvironmentError("this evaluator cannot be made");
  }
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    seen_ += jobs.size();
    if (seen_ > 20 && how_ == How::refuses_its_input) throw InputError("placement", "this evaluator refuses it");
    if (seen_ > 20) throw EnvironmentError("this evaluator is broken");
    return std::vector<Outcome>(jobs.size());
  }

 private:
  How how_;
  std::size_t seen_ = 0;
};

// Only rank 1 fails, which is in every job with workers; the other ranks continue.
dist::EvaluatorFactory failing(int rank, How how) {
  if (rank != 1) return make_echo_evaluator;
  return [how](const auto&, const auto&) -> std::unique_ptr<evaluate::Evaluator> {
    return std::make_unique<FailingEvaluator>(how);
  };
}

}  // namespace

// Only the failure of another rank ends this loop; if it does not, CTest's time limit does.
int evaluate_for_ever(dist::World& world) {
  const Problem problem = random_problem(1, 50, 2);
  const Problem* const pointer = &problem;
  const auto evaluator = dist::make_mpi_evaluator(world, std::span(&pointer, 1), Schedule::fifo);
  Stream stream({.seed = 1});
  const Placement placement = random_placement(problem, stream, false);
  const std::vector<evaluate::EvaluationJob> jobs(100, evaluate::EvaluationJob{0, &placement});
  while (true) evaluator->evaluate(jobs);
}

int release_with_bad_input(dist::World& world) {
  dist::release_workers(world, 2);
  dist::release_workers(world, 0);  // does nothing: they are released already
  fmt::print(stderr, "the input of the master is bad\n");
  return 2;
}

int throw_before_the_release(dist::World&) { throw EnvironmentError("the master failed before it had a problem"); }

int throw_between_batches(dist::World& world) {
  const Problem problem = random_problem(1, 50, 2);
  const Problem* const pointer = &problem;
  const auto evaluator = dist::make_mpi_evaluator(world, std::span(&pointer, 1), Schedule::fifo);
  Stream stream({.seed = 1});
  const Placement placement = random_placement(problem, stream, false);
  evaluator->evaluate(std::vector<evaluate::EvaluationJob>(100, evaluate::EvaluationJob{0, &placement}));
  throw EnvironmentError("the master failed between two batches");
}

int finish_while_workers_wait(dist::World& world) {
  const Problem problem = random_problem(1, 50, 2);
  const Problem* const pointer = &problem;
  const auto evaluator = dist::make_mpi_evaluator(world, std::span(&pointer, 1), Schedule::fifo);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return 0;
}

dist::EvaluatorFactory breaks(int rank) { return failing(rank, How::breaks); }
dist::EvaluatorFactory refuses_its_input(int rank) { return failing(rank, How::refuses_its_input); }
dist::EvaluatorFactory cannot_be_made(int rank) { return failing(rank, How::cannot_be_made); }

}  // namespace emplace::test
