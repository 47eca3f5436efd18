// Placers on other ranks give the same results as in this process.
#include "tests/mpi/placer_pool_cases.hpp"
#include "dist/clients.hpp"

#include <chrono>

namespace emplace::test {

namespace {

search::PlacerRequest request_for(const Problem& problem, evaluate::Evaluator& evaluator, Schedule schedule) {
  search::PlacerRequest request;
  request.problem = &problem;
  request.schedule = schedule;
  request.evaluator = &evaluator;
  return request;
}

std::vector<search::PoolJob> some_jobs() {
  std::vector<search::PoolJob> jobs;
  for (const char* method : {"single", "heft", "climb", "anneal", "tabu", "ruin", "brkga", "scotch", "expert",
                             "cpu-only", "layers", "contracted", "layered"})
    for (const std::uint64_t seed : {1, 2})
      jobs.push_back({.method = method, .seed = seed, .evaluations = 100 + 50 * seed});
  jobs[4].options.set("kick", {0.5, "a test"});
  return jobs;
}

}  // namespace

int same_answers(dist::World& world) {
  Problem problem = random_problem(2, 60, 4);
  problem.expert.assign(problem.op_count(), 1);
  const Problem* const list[] = {&problem};
  const Schedule schedule = Schedule::in_order;
  const auto over_mpi = dist::make_mpi_evaluator(world, list, schedule);
  const auto in_process = evaluate::make_local_evaluator(list, schedule);
  const auto jobs = some_jobs();
  search::PlacerRequest request = request_for(problem, *in_process, schedule);
  const auto wanted = search::make_local_placer_pool()->run(request, jobs);
  // Also from a start placement, the one that the first job found.
  const Placement start = wanted[0]->result.placement;
  request.start = &start;
  const auto wanted_from_start = search::make_local_placer_pool()->run(request, jobs);

  const auto pool = dist::make_mpi_placer_pool(world);
  EMPLACE_CHECK(pool->size() == static_cast<std::size_t>(world.size()) - 1);
  const auto check = [&](const auto& expected) {
    const auto got = pool->run(request, jobs);
    EMPLACE_CHECK(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EMPLACE_CHECK(got[i].has_value() == expected[i].has_value(), "job {}", i);
      if (!got[i]) continue;
      const search::PlacerResult &a = got[i]->result, &b = expected[i]->result;
      EMPLACE_CHECK(a.placement == b.placement && a.outcome == b.outcome, "job {}", i);
      EMPLACE_CHECK(a.evaluations == b.evaluations && a.proved_optimal == b.proved_optimal, "job {}", i);
      EMPLACE_CHECK(a.lower_bound == b.lower_bound && a.bound_by == b.bound_by && a.note == b.note &&
                    a.steps.size() == b.steps.size());
    }
  };
  check(wanted_from_start);
  request.start = nullptr;
  check(wanted);
  return 0;
}

// Of two problems, with more jobs than workers; between them a batch of placements is evaluated.
int same_polish(dist::World& world) {
  const Problem first = random_problem(2, 60, 4), second = random_problem(3, 40, 4);
  const Problem* const list[] = {&first, &second};
  const auto evaluator = dist::make_mpi_evaluator(world, list, Schedule::in_order);
  const auto in_process = search::make_local_polish_pool(list, Schedule::in_order);
  const auto pool = world.has_workers() ? dist::make_mpi_polish_pool(world)
                                        : search::make_local_polish_pool(list, Schedule::in_order);
  Stream random{{.seed = 8}};
  for (int round = 0; round < 2; ++round) {
    std::vector<search::PolishJob> jobs;
    for (std::uint32_t i = 0; i < 9; ++i) {
      const Problem& problem = *list[i % 2];
      const Grouping units = make_grouping(problem, GroupingKind::colocation, 12);
      search::PolishJob job{.problem = i % 2, .start = {}, .unit_of_op = units.unit_of_op, .seed = i};
      std::vector<std::uint8_t> devices;
      for (std::size_t unit = 0; unit < units.count(); ++unit) {
        devices.push_back(static_cast<std::uint8_t>(random.below(4)));
        while (!units.allows(unit, devices.back())) devices.back() = (devices.back() + 1) % 4;
      }
      job.start = units.expand(devices);
      job.start.order = problem.topological;
      job.evaluations = 100 + i;
      jobs.push_back(std::move(job));
    }
    const auto wanted = in_process->run(jobs), got = pool->run(jobs);
    EMPLACE_CHECK(got.size() == jobs.size() && wanted.size() == jobs.size());
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto same = [](const search::Polished& a, const search::Polished& b) {
        return a.placement == b.placement && a.outcome == b.outcome;
      };
      EMPLACE_CHECK(same(got[i].best, wanted[i].best) && same(got[i].on_units, wanted[i].on_units), "job {}", i);
      EMPLACE_CHECK(got[i].evaluations == wanted[i].evaluations, "job {}", i);
      const evaluate::EvaluationJob again[] = {{i % 2 == 0 ? 0U : 1U, &got[i].best.placement}};
      EMPLACE_CHECK(evaluator->evaluate(again).front() == got[i].best.outcome, "job {}", i);
    }
  }
  return 0;
}

// Searches without an end: a stop by the master ends those that run, and no further one begins.
int stopped_jobs(dist::World& world) {
  const Problem problem = random_problem(2, 200, 4);
  const Problem* const list[] = {&problem};
  const auto evaluator = dist::make_mpi_evaluator(world, list, Schedule::fifo);
  const auto pool = dist::make_mpi_placer_pool(world);
  search::PlacerRequest request = request_for(problem, *evaluator, Schedule::fifo);
  const auto start = std::chrono::steady_clock::now();
  request.stop = [&] { return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300); };
  std::vector<search::PoolJob> jobs;
  for (int i = 0; i < 12; ++i)
    jobs.push_back({.method = "anneal", .seed = static_cast<std::uint64_t>(i), .evaluations = 1'000'000'000'000});
  const auto answers = pool->run(request, jobs);
  for (std::size_t i = 0; i < answers.size(); ++i)
    EMPLACE_CHECK(answers[i].has_value() == (i < pool->size()), "job {} of {}", i, answers.size());
  return 0;
}

int throw_while_jobs_run(dist::World& world) {
  const Problem problem = random_problem(2, 100'000, 2);  // answers are longer than MPI's eager limit
  const Problem* const list[] = {&problem};
  const auto evaluator = dist::make_mpi_evaluator(world, list, Schedule::fifo);
  const auto pool = dist::make_mpi_placer_pool(world);
  search::PlacerRequest request = request_for(problem, *evaluator, Schedule::fifo);
  const auto start = std::chrono::steady_clock::now();
  request.stop = [&] {
    if (std::chrono::steady_clock::now() - start > std::chrono::milliseconds(300))
      throw EnvironmentError("the master failed while jobs ran");
    return false;
  };
  const std::vector<search::PoolJob> jobs(12, {.method = "random", .evaluations = 1'000'000'000'000});
  pool->run(request, jobs);
  return 0;
}

// Alternates between jobs and batches of placements.
int more_batches_after_jobs(dist::World& world) {
  const Problem problem = random_problem(2, 60, 4);
  const Problem* const list[] = {&problem};
  const auto evaluator = dist::make_mpi_evaluator(world, list, Schedule::fifo);
  const auto pool = dist::make_mpi_placer_pool(world);
  const search::PlacerRequest request = request_for(problem, *evaluator, Schedule::fifo);
  for (int round = 0; round < 3; ++round) {
    const search::PoolJob jobs[] = {{.method = "single"}, {.method = "random", .evaluations = 100}};
    for (const auto& answer : pool->run(request, jobs)) {
      EMPLACE_CHECK(answer.has_value());
      const std::vector<evaluate::EvaluationJob> again(30, {0, &answer->result.placement});
      for (const Outcome& outcome : evaluator->evaluate(again)) EMPLACE_CHECK(outcome == answer->result.outcome);
    }
  }
  return 0;
}

}  // namespace emplace::test
