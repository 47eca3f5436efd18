// Each group of ranks has its own evaluators, and its failures do not affect the others.
#include "tests/mpi/part_cases.hpp"
#include "dist/clients.hpp"

#include <string>

#include "emplace/base/error.hpp"

namespace emplace::test {

namespace {

// Evaluates, and on problems of this name fails after twenty placements.
class Fragile final : public evaluate::DirectEvaluator {
 public:
  explicit Fragile(const evaluate::EvaluatorSetup& setup)
      : breaks_(setup.problems.front()->name == "random 7"), echo_(make_echo_evaluator({}, setup)) {}
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    seen_ += jobs.size();
    if (breaks_ && seen_ > 20) throw InputError("placement", "is too much");
    return echo_->evaluate(jobs);
  }

 private:
  bool breaks_;
  std::unique_ptr<evaluate::Evaluator> echo_;
  std::size_t seen_ = 0;
};

std::unique_ptr<evaluate::Evaluator> make_fragile(const evaluate::EvaluatorChoice&,
                                                  const evaluate::EvaluatorSetup& setup) {
  return std::make_unique<Fragile>(setup);
}

// Uses one evaluator after another; that of problem 7 fails.
void evaluate_in(dist::World& part) {
  for (const std::uint32_t seed : {3, 7, 5, 7, 4}) {
    const Problem problem = random_problem(seed, 30, 2);
    const Problem* const pointer = &problem;
    const auto over_mpi = dist::make_mpi_evaluator(part, std::span(&pointer, 1), Schedule::fifo, {}, make_fragile);
    const auto here = make_echo_evaluator({}, {std::span(&pointer, 1), Schedule::fifo});
    Stream stream({.seed = seed});
    std::string error;
    for (int batch = 0; batch < 3; ++batch) {
      std::vector<Placement> placements;
      for (int i = 0; i < 100; ++i) placements.push_back(random_placement(problem, stream, false));
      std::vector<evaluate::EvaluationJob> jobs;
      for (const Placement& placement : placements) jobs.push_back({0, &placement});
      try {
        EMPLACE_CHECK(over_mpi->evaluate(jobs) == here->evaluate(jobs));
      } catch (const InputError& failure) {
        error = failure.what();
        break;
      }
    }
    EMPLACE_CHECK((seed == 7) == error.ends_with("placement: is too much"), "seed {}: {}", seed, error);
    EMPLACE_CHECK(part.size() == 1 || seed != 7 || error.starts_with("rank 1 on "), "{}", error);
  }
}

}  // namespace

// Rank 0 is a part of its own, the others are in parts of two, and the last rank is alone if their number is odd.
int parts_of_a_job(dist::World& world) {
  const auto part = world.split(world.rank() == 0 ? 0 : (world.rank() + 1) / 2);
  EMPLACE_CHECK(part->is_part() && part->size() <= 2);
  if (!part->is_master()) return dist::serve(*part, make_fragile);
  evaluate_in(*part);
  return 0;
}

}  // namespace emplace::test
