// For any number of ranks, outcomes are equal to those of one process.
#include <fmt/core.h>

#include <chrono>
#include <set>
#include <thread>

#include "dist/clients.hpp"
#include "tests/mpi/cases.hpp"
#include "tests/mpi/evaluation_cases.hpp"

namespace emplace::test {

namespace {

struct Batch {
  std::vector<Placement> placements;
  std::vector<evaluate::EvaluationJob> jobs;

  // `count` placements of the problems from number `first` on.
  Batch(std::span<const Problem* const> problems, std::size_t count, std::uint32_t seed, bool ordered,
        std::uint32_t first = 0) {
    Stream stream({.seed = seed});
    std::vector<std::uint32_t> numbers;
    for (std::size_t i = 0; i < count; ++i) {
      numbers.push_back(first + stream.below(static_cast<std::uint32_t>(problems.size()) - first));
      placements.push_back(random_placement(*problems[numbers.back()], stream, ordered));
    }
    for (std::size_t i = 0; i < count; ++i) jobs.push_back({numbers[i], &placements[i]});
  }
};

std::vector<const Problem*> pointers_to(const std::vector<Problem>& problems) {
  std::vector<const Problem*> pointers;
  for (const Problem& problem : problems) pointers.push_back(&problem);
  return pointers;
}

// Asks for the start times of every third placement, and puts every fourth in one of two series.
std::pair<std::vector<Outcome>, std::vector<std::vector<Ticks>>> evaluate(evaluate::Evaluator& evaluator,
                                                                          std::vector<evaluate::EvaluationJob> jobs) {
  std::vector<std::vector<Ticks>> starts(jobs.size());
  for (std::uint32_t i = 0; i < jobs.size(); ++i) {
    if (i % 3 == 0) jobs[i].starts = &starts[i];
    if (i % 4 == 0) jobs[i].series = i % 8;
  }
  auto outcomes = evaluator.evaluate(jobs);
  return {std::move(outcomes), std::move(starts)};
}

void check_same(evaluate::Evaluator& over_mpi, evaluate::Evaluator& in_process, const Batch& batch) {
  const auto [got, got_starts] = evaluate(over_mpi, batch.jobs);
  const auto [wanted, wanted_starts] = evaluate(in_process, batch.jobs);
  EMPLACE_CHECK(got.size() == wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EMPLACE_CHECK(got[i] == wanted[i], "outcome {} of {}", i, got.size());
  EMPLACE_CHECK(got_starts == wanted_starts);
}

int same_outcomes(dist::World& world, Schedule schedule, bool ordered) {
  std::vector<Problem> problems;
  problems.push_back(random_problem(1, 10, 2));
  problems.push_back(random_problem(2, 300, 4));
  problems.push_back(random_problem(3, 1, 1));
  const auto pointers = pointers_to(problems);
  const auto over_mpi = dist::make_mpi_evaluator(world, pointers, schedule);
  const auto in_process = evaluate::make_local_evaluator(pointers, schedule);
  // Fewer placements than ranks, none at all, and hundreds.
  for (const std::size_t count : {1, 0, 2, 400, 3, 1000}) {
    const Batch batch(pointers, count, static_cast<std::uint32_t>(count), ordered);
    check_same(*over_mpi, *in_process, batch);
  }
  const Batch batch(pointers, 400, 5, ordered);
  std::set<Infeasible> kinds;
  for (const Outcome& outcome : in_process->evaluate(batch.jobs)) kinds.insert(outcome.why);
  EMPLACE_CHECK(kinds.size() == 5, "the placements show {} of the 5 kinds of outcome", kinds.size());
  return 0;
}

// Rank 1 takes 30 ms per placement, the others 1 ms; the outcome has the rank that evaluated.
class UnevenEvaluator final : public evaluate::DirectEvaluator {
 public:
  explicit UnevenEvaluator(int rank) : rank_(rank) {}
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes;
    for (const evaluate::EvaluationJob& job : jobs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(rank_ == 1 ? 30 : 1));
      Outcome outcome;
      outcome.makespan = job.placement->device[0];
      outcome.subject = static_cast<std::uint32_t>(rank_);
      outcomes.push_back(outcome);
    }
    return outcomes;
  }

 private:
  int rank_;
};

}  // namespace

int same_outcomes_fifo(dist::World& world) { return same_outcomes(world, Schedule::fifo, false); }
int same_outcomes_priority(dist::World& world) { return same_outcomes(world, Schedule::priority, true); }
int same_outcomes_in_order(dist::World& world) { return same_outcomes(world, Schedule::in_order, true); }

// Messages of up to half a megabyte, above MPI's eager limit.
int long_messages(dist::World& world) {
  std::vector<Problem> problems;
  problems.push_back(random_problem(4, 100'000, 2));
  problems.push_back(random_problem(5, 5, 2));
  const auto pointers = pointers_to(problems);
  const auto over_mpi = dist::make_mpi_evaluator(world, pointers, Schedule::fifo, {}, make_echo_evaluator);
  const auto in_process = make_echo_evaluator({}, {pointers, Schedule::fifo});
  check_same(*over_mpi, *in_process, Batch(pointers, 40, 6, true));
  // Outcomes of 22 bytes, thousands of them in one message.
  check_same(*over_mpi, *in_process, Batch(pointers, 50'000, 7, false, 1));
  return 0;
}

int slow_workers_get_less(dist::World& world) {
  const Problem problem = random_problem(6, 4, 2);
  const Problem* const pointer = &problem;
  const auto evaluator = dist::make_mpi_evaluator(world, std::span(&pointer, 1), Schedule::fifo);
  const Batch batch(std::span(&pointer, 1), 200, 8, false);
  std::size_t by_slow = 0;
  const std::vector<Outcome> outcomes = evaluator->evaluate(batch.jobs);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EMPLACE_CHECK(outcomes[i].makespan == batch.placements[i].device[0]);
    by_slow += outcomes[i].subject == 1 ? 1 : 0;
  }
  // Half of 200 for each of two workers would be 100; thirty times slower, rank 1 should get about 6.
  EMPLACE_CHECK(by_slow >= 1 && by_slow <= 50, "rank 1 evaluated {} of 200", by_slow);
  return 0;
}

dist::EvaluatorFactory uneven(int rank) {
  return [rank](const auto&, const auto&) -> std::unique_ptr<evaluate::Evaluator> {
    return std::make_unique<UnevenEvaluator>(rank);
  };
}

dist::EvaluatorFactory echo(int) { return make_echo_evaluator; }

}  // namespace emplace::test
