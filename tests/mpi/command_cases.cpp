// Programs of the user on every worker: the same outcomes for any number of ranks, and the environment variables that
// the programs get.
#include "tests/mpi/command_cases.hpp"
#include "dist/clients.hpp"

#include <fmt/core.h>

#include <set>

namespace emplace::test {

namespace {

evaluate::EvaluatorChoice command(const std::string& script, const std::string& more = "") {
  ConfigTable options = ConfigTable::parse_toml("repeat = 1\nretries = 0\n" + more, "test");
  options.set("run", {ConfigList{{"sh", "test"}, {"-c", "test"}, {script, "test"}}, "test"});
  evaluate::EvaluatorChoice choice{"command", options};
  choice.options = evaluate::entry_of(choice).resolve(options);
  return choice;
}

struct Measured {
  std::vector<Outcome> outcomes;
  std::vector<std::string> messages;
  friend bool operator==(const Measured&, const Measured&) = default;
};

Measured measure(evaluate::Evaluator& evaluator, const Problem& problem, std::size_t count) {
  Stream stream({.seed = 5});
  std::vector<Placement> placements;
  for (std::size_t i = 0; i < count; ++i) placements.push_back(random_placement(problem, stream, false));
  Measured measured{{}, std::vector<std::string>(count)};
  std::vector<evaluate::EvaluationJob> jobs;
  for (std::size_t i = 0; i < count; ++i)
    jobs.push_back({0, &placements[i], nullptr, evaluate::EvaluationJob::no_series, &measured.messages[i]});
  measured.outcomes = evaluator.evaluate(jobs);
  return measured;
}

}  // namespace

// The time is a checksum of the placement; a fifth of the runs fail, each with another message.
int same_measurements(dist::World& world) {
  const Problem problem = random_problem(11, 20, 3);
  const Problem* const list[] = {&problem};
  const evaluate::EvaluatorChoice choice = command(
      "set -- $(cksum); [ $(($1 % 5)) -ne 0 ] || { echo \"dislikes $1\" >&2; exit 3; }; echo $(($1 % 1000 + 1)).5");
  const auto over_mpi = dist::make_mpi_evaluator(world, list, Schedule::fifo, choice);
  const auto in_process = evaluate::make_evaluator(choice, {list, Schedule::fifo});
  const Measured got = measure(*over_mpi, problem, 60);
  EMPLACE_CHECK(got == measure(*in_process, problem, 60));
  std::size_t failed = 0;
  for (std::size_t i = 0; i < got.outcomes.size(); ++i) {
    const bool fails = got.outcomes[i].why == Infeasible::not_measured;
    EMPLACE_CHECK(fails == (got.messages[i].find("dislikes") != std::string::npos));
    failed += fails ? 1 : 0;
  }
  EMPLACE_CHECK(failed > 0 && failed < 40, "{} of 60 failed", failed);
  return 0;
}

// Each placement's time is the rank that measured it; a program that finds a launcher's variables fails.
int programs_know_their_rank(dist::World& world) {
  const Problem problem = random_problem(12, 5, 2);
  const Problem* const list[] = {&problem};
  const auto evaluator = dist::make_mpi_evaluator(
      world, list, Schedule::fifo,
      command("sleep 0.05; ! env | grep -E '^(OMPI|PMIX)_' >&2 && [ \"$EMPLACE_PROBLEM\" = 'random 12' ] && "
              "echo $((EMPLACE_RANK + 1))"));
  std::set<Ticks> ranks, wanted;
  const Measured measured = measure(*evaluator, problem, 12);
  for (std::size_t i = 0; i < 12; ++i) {
    EMPLACE_CHECK(measured.outcomes[i].feasible(), "{}", measured.messages[i]);
    ranks.insert(measured.outcomes[i].makespan);
  }
  for (int rank = world.size() == 1 ? 0 : 1; rank < world.size(); ++rank) wanted.insert(ticks_of_seconds(rank + 1));
  EMPLACE_CHECK(ranks == wanted);
  return 0;
}

int measure_for_ever(dist::World& world) {
  const Problem problem = random_problem(13, 5, 2);
  const Problem* const list[] = {&problem};
  const auto evaluator = dist::make_mpi_evaluator(world, list, Schedule::fifo, command("echo 1"));
  while (true) (void)measure(*evaluator, problem, 10);
}

dist::EvaluatorFactory without_its_program(int) {
  return [](const evaluate::EvaluatorChoice& choice, const evaluate::EvaluatorSetup& setup) {
    evaluate::EvaluatorChoice missing = choice;
    missing.options.set("run", {ConfigList{{"/no/such/program", "test"}}, "test"});
    return evaluate::make_evaluator(missing, setup);
  };
}

}  // namespace emplace::test
