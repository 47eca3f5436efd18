// Placers on other ranks answer what they would answer here.
#include "team_cases.hpp"

#include <chrono>

namespace emplace::test {

namespace {

PlacerRequest request_for(const Problem& problem, Evaluator& evaluator, Schedule schedule) {
  PlacerRequest request;
  request.problem = &problem;
  request.schedule = schedule;
  request.evaluator = &evaluator;
  return request;
}

std::vector<TeamJob> some_jobs() {
  std::vector<TeamJob> jobs;
  for (const char* method : {"single", "heft", "climb", "anneal", "tabu", "brkga", "scotch", "expert", "cpu-only"})
    for (const std::uint64_t seed : {1, 2})
      jobs.push_back({.method = method, .seed = seed, .evaluations = 100 + 50 * seed});
  jobs[4].options.set("kick", {0.5, "a test"});
  return jobs;
}

}  // namespace

int same_answers(World& world) {
  const Problem problem = random_problem(2, 60, 4);
  const Problem* const list[] = {&problem};
  const Schedule schedule = Schedule::in_order;
  const auto over_mpi = make_mpi_evaluator(world, list, schedule);
  const auto in_process = make_local_evaluator(list, schedule);
  const auto jobs = some_jobs();
  PlacerRequest request = request_for(problem, *in_process, schedule);
  std::vector<std::uint8_t> expert(problem.op_count(), 1);
  request.expert = expert;
  const auto wanted = make_local_team()->run(request, jobs);
  // From a start too, which the first job finds.
  const Placement start = wanted[0]->result.placement;
  request.start = &start;
  const auto wanted_from_start = make_local_team()->run(request, jobs);

  const auto team = make_mpi_team(world);
  EMPLACE_CHECK(team->size() == static_cast<std::size_t>(world.size()) - 1);
  const auto check = [&](const auto& expected) {
    const auto got = team->run(request, jobs);
    EMPLACE_CHECK(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EMPLACE_CHECK(got[i].has_value() == expected[i].has_value(), "job {}", i);
      if (!got[i]) continue;
      const PlacerResult &a = got[i]->result, &b = expected[i]->result;
      EMPLACE_CHECK(a.placement == b.placement && a.outcome == b.outcome, "job {}", i);
      EMPLACE_CHECK(a.evaluations == b.evaluations && a.proved_optimal == b.proved_optimal, "job {}", i);
      EMPLACE_CHECK(a.lower_bound == b.lower_bound && a.note == b.note && a.steps.size() == b.steps.size());
    }
  };
  check(wanted_from_start);
  request.start = nullptr;
  check(wanted);
  return 0;
}

// Searches without an end: the master's stop ends those that run, and no further one begins.
int stopped_jobs(World& world) {
  const Problem problem = random_problem(2, 200, 4);
  const Problem* const list[] = {&problem};
  const auto evaluator = make_mpi_evaluator(world, list, Schedule::fifo);
  const auto team = make_mpi_team(world);
  PlacerRequest request = request_for(problem, *evaluator, Schedule::fifo);
  const auto start = std::chrono::steady_clock::now();
  request.stop = [&] { return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300); };
  std::vector<TeamJob> jobs;
  for (int i = 0; i < 12; ++i)
    jobs.push_back({.method = "anneal", .seed = static_cast<std::uint64_t>(i), .evaluations = 1'000'000'000'000});
  const auto answers = team->run(request, jobs);
  for (std::size_t i = 0; i < answers.size(); ++i)
    EMPLACE_CHECK(answers[i].has_value() == (i < team->size()), "job {} of {}", i, answers.size());
  return 0;
}

int throw_while_jobs_run(World& world) {
  const Problem problem = random_problem(2, 100'000, 2);  // answers are longer than what MPI sends without asking
  const Problem* const list[] = {&problem};
  const auto evaluator = make_mpi_evaluator(world, list, Schedule::fifo);
  const auto team = make_mpi_team(world);
  PlacerRequest request = request_for(problem, *evaluator, Schedule::fifo);
  const auto start = std::chrono::steady_clock::now();
  request.stop = [&] {
    if (std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300))
      throw EnvironmentError("the master failed while jobs ran");
    return false;
  };
  const std::vector<TeamJob> jobs(12, {.method = "random", .evaluations = 1'000'000'000'000});
  team->run(request, jobs);
  return 0;
}

// Jobs and batches of placements by turns.
int more_batches_after_jobs(World& world) {
  const Problem problem = random_problem(2, 60, 4);
  const Problem* const list[] = {&problem};
  const auto evaluator = make_mpi_evaluator(world, list, Schedule::fifo);
  const auto team = make_mpi_team(world);
  const PlacerRequest request = request_for(problem, *evaluator, Schedule::fifo);
  for (int round = 0; round < 3; ++round) {
    const TeamJob jobs[] = {{.method = "single"}, {.method = "random", .evaluations = 100}};
    for (const auto& answer : team->run(request, jobs)) {
      EMPLACE_CHECK(answer.has_value());
      const std::vector<EvaluationJob> again(30, {0, &answer->result.placement});
      for (const Outcome& outcome : evaluator->evaluate(again)) EMPLACE_CHECK(outcome == answer->result.outcome);
    }
  }
  return 0;
}

}  // namespace emplace::test
