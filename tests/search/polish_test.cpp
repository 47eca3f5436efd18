#include "search/local/polish.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "emplace/evaluate/evaluator.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::search::polish_test {
namespace {

using namespace test;

Outcome outcome_of(const Problem& problem, const Placement& placement) {
  const Problem* const list[] = {&problem};
  const evaluate::EvaluationJob job{0, &placement};
  return evaluate::make_local_evaluator(list, Schedule::fifo)->evaluate({&job, 1}).front();
}

PolishResult polished(const Problem& problem, const PolishJob& job) {
  const Problem* const list[] = {&problem};
  const PolishJob jobs[] = {job};
  return make_local_polish_pool(list, Schedule::fifo)->run(jobs).front();
}

// Eight ops of 1 ms without edges, two and two in a unit.
Problem eight_ops() {
  std::vector<TinyOp> ops;
  for (int i = 0; i < 8; ++i) ops.push_back({std::string(1, static_cast<char>('a' + i)), {1, 1}});
  return tiny(plain_devices(2), ops, {});
}

TEST(Polish, BalancesWorkUnitByUnit) {
  // All on one device take 8 ms; two units of 2 ms each on either device take 4 ms.
  const Problem problem = eight_ops();
  PolishJob job{.problem = 0, .start = {std::vector<std::uint8_t>(8, 0), {}}, .unit_of_op = {7, 7, 3, 3, 9, 9, 1, 1}};
  job.evaluations = 200;
  const PolishResult result = polished(problem, job);
  EXPECT_EQ(result.on_units.outcome.makespan, 4 * ms);
  EXPECT_EQ(result.best.outcome.makespan, 4 * ms);
  EXPECT_EQ(outcome_of(problem, result.best.placement), result.best.outcome);
  const std::vector<std::uint8_t>& device = result.on_units.placement.device;
  for (std::size_t op = 0; op < 8; op += 2) EXPECT_EQ(device[op], device[op + 1]) << "the unit of op " << op;
  EXPECT_LE(result.evaluations, 200U);
}

TEST(Polish, SplitsUnitsOnlyInItsBestPlacement) {
  // Three ops of 1, 1 and 2 ms, the first and the last in one unit: 3 ms by units, 2 ms by ops.
  const Problem problem = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {2, 2}}}, {});
  PolishJob job{.problem = 0, .start = {{0, 0, 0}, {}}, .unit_of_op = {0, 1, 0}};
  job.evaluations = 100;
  const PolishResult result = polished(problem, job);
  EXPECT_EQ(result.on_units.outcome.makespan, 3 * ms);
  EXPECT_EQ(result.on_units.placement.device[0], result.on_units.placement.device[2]);
  EXPECT_EQ(result.best.outcome.makespan, 2 * ms);
}

TEST(Polish, MovesFinerUnitsWhereNeitherUnitsNorOpsHelp) {
  // Two chains of ten ops of 1 ms in one unit. Transfers take 12 ms, so that an op alone makes the step longer.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  PolishJob job{.problem = 0, .start = {std::vector<std::uint8_t>(20, 0), {}}};
  for (std::uint32_t i = 0; i < 20; ++i) {
    ops.push_back({std::to_string(i), {1, 1}});
    if (i % 10 != 0) edges.push_back({i - 1, i});
    job.unit_of_op.push_back(0);
  }
  const Problem problem = tiny(plain_devices(2), ops, edges, 12);
  job.evaluations = 200;
  EXPECT_EQ(polished(problem, job).best.outcome.makespan, 20 * ms);
  for (std::uint32_t i = 0; i < 20; ++i) job.finer_of_op.push_back(i / 10);
  const PolishResult result = polished(problem, job);
  EXPECT_EQ(result.on_units.outcome.makespan, 20 * ms);
  EXPECT_EQ(result.best.outcome.makespan, 10 * ms);
  EXPECT_LE(result.evaluations, 200U);
}

TEST(Polish, MakesNoMoreEvaluationsThanItsBudgetAndIsNeverWorseThanItsStart) {
  const Problem problem = eight_ops();
  for (std::uint64_t evaluations = 1; evaluations < 40; ++evaluations) {
    PolishJob job{.problem = 0, .start = {{0, 1, 0, 0, 0, 0, 1, 1}, {}}, .unit_of_op = {0, 1, 2, 3, 4, 5, 6, 7}};
    job.evaluations = evaluations;
    const PolishResult result = polished(problem, job);
    EXPECT_LE(result.evaluations, evaluations);
    EXPECT_LE(result.best.outcome.makespan, 5 * ms);
    EXPECT_LE(result.best.outcome.makespan, result.on_units.outcome.makespan);
  }
}

TEST(Polish, LeavesWhatCannotBeMoved) {
  PolishJob job{.problem = 0, .start = {{1}, {}}, .unit_of_op = {0}};
  job.evaluations = 10;
  const Problem one_op = tiny(plain_devices(2), {{"a", {no, 1}}}, {});
  EXPECT_EQ(polished(one_op, job).best.placement.device, std::vector<std::uint8_t>{1});
  // All ops can run on one device each.
  const Problem pinned = tiny(plain_devices(2), {{"a", {1, no}}, {"b", {no, 1}}}, {{0, 1}}, 1);
  job.start.device = {0, 1};
  job.unit_of_op = {0, 1};
  EXPECT_EQ(polished(pinned, job).best.placement, job.start);
  // A unit that no device can run as a whole stays where it is.
  job.unit_of_op = {4, 4};
  EXPECT_EQ(polished(pinned, job).on_units.placement, job.start);
}

TEST(Polish, DoesNotDependOnEarlierJobs) {
  const Problem problem = eight_ops();
  const Problem* const list[] = {&problem};
  std::vector<PolishJob> jobs;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    PolishJob job{.problem = 0, .start = {std::vector<std::uint8_t>(8, 0), {}}, .unit_of_op = {}, .seed = seed};
    for (std::uint32_t op = 0; op < 8; ++op) job.unit_of_op.push_back(op / (1 + static_cast<std::uint32_t>(seed % 2)));
    job.evaluations = 12;
    jobs.push_back(job);
  }
  const std::vector<PolishResult> together = make_local_polish_pool(list, Schedule::fifo)->run(jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i)
    EXPECT_EQ(polished(problem, jobs[i]).best.placement, together[i].best.placement) << i;
}

}  // namespace
}  // namespace emplace::search::polish_test
