// Published optima of task graphs, replayed on the engines.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "emplace/base/random.hpp"
#include "emplace/simulate/engine.hpp"
#include "formats/workload/workload.hpp"
#include "problem/order.hpp"
#include "tests/search/every_schedule.hpp"
#include "tests/support/outside_files.hpp"
#include "tests/support/random_order.hpp"
#include "tests/support/ten_tasks.hpp"

namespace emplace::simulate::workload_replay_test {
namespace {

using nlohmann::json;

const std::string folder = test::outside_file("workloads/");
constexpr Ticks us = 1'000'000;

// To the file's unit: costs of 0 last 1 ps, which adds at most one per op and edge on a path.
Ticks in_units(Ticks ticks, Ticks unit) { return (ticks + unit / 2) / unit; }

class Replay : public ::testing::Test {
 protected:
  void SetUp() override { REQUIRE_OUTSIDE_FILE(folder); }
};

// Devices and the order of starts; ties (costs of 0) in topological order.
Placement published_schedule(const Problem& problem, const json& instance) {
  Placement placement;
  std::vector<double> start;
  for (const json& task : instance["schedule"]) {
    placement.device.push_back(task[0].get<std::uint8_t>());
    start.push_back(task[1].get<double>());
  }
  placement.order = problem.topological;
  std::stable_sort(placement.order.begin(), placement.order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return start[a] < start[b]; });
  return placement;
}

// Figure 3(a) of the paper: HEFT's schedule, which ends at 80.
TEST(ReplayTenTasks, HeftsScheduleStartsEachTaskWhenItsPaperSays) {
  const Problem problem = formats::read_problem_text(test::ten_tasks_file, "Topcuoglu-3-10.txt");
  const std::vector<Ticks> start = {0, 27, 9, 18, 28, 26, 38, 57, 56, 73};
  const Placement placement{{2, 0, 2, 1, 2, 1, 2, 0, 1, 1}, {0, 2, 3, 5, 1, 4, 6, 8, 7, 9}};  // by start
  for (const auto& make : {make_reference_engine, make_exact_engine}) {
    Timeline timeline;
    const Outcome outcome =
        make(problem, Schedule::in_order)->evaluate(placement, {.usage = nullptr, .timeline = &timeline});
    EXPECT_EQ(outcome.makespan, 80 * us);
    for (std::size_t task = 0; task < start.size(); ++task)
      EXPECT_EQ(timeline.op_start.at(task), start[task] * us) << "n" << task + 1;
  }
}

// A fork and join: 2, then 3 and 3, then 2, each edge 1. One processor takes 10. Any other schedule has two edges on
// one path between processors: 2 + 1 + 3 + 2 where the last task follows the branch that was sent away.
TEST(ReplayForkJoin, ItsOptimalScheduleTakesItsTimeAndNoOtherTakesLess) {
  const std::string text = R"([{"name": "fork", "processors": 2, "optimal": 8, "weights": [2, 3, 3, 2],
    "edges": [[0, 1, 1], [0, 2, 1], [1, 3, 1], [2, 3, 1]], "schedule": [[0, 0], [0, 2], [1, 3], [1, 6]]}])";
  const Problem problem = formats::read_problem_text(text, "fork.json", {.instance = "fork", .processors = {}});
  const Placement placement = published_schedule(problem, json::parse(text)[0]);
  for (const auto& make : {make_reference_engine, make_exact_engine})
    EXPECT_EQ(make(problem, Schedule::in_order)->evaluate(placement, {}).makespan, 8 * us);
  EXPECT_EQ(test::best_of_all(problem, Schedule::in_order), 8 * us);
}

TEST_F(Replay, All276OptimalSchedulesTakeTheirPublishedTime) {
  const std::string file = folder + "sinnen-optimal/sinnen-optimal-10-tasks.json";
  const std::string text = read_file(file);
  const json instances = json::parse(text);
  ASSERT_EQ(instances.size(), 276U);
  Ticks sum = 0;
  for (const json& instance : instances) {
    const auto name = instance["name"].get<std::string>();
    const Problem problem = formats::read_problem_text(text, file, {.instance = name, .processors = {}});
    const Placement placement = published_schedule(problem, instance);
    check_placement(problem, placement, name);
    for (const auto& make : {make_reference_engine, make_exact_engine}) {
      const Outcome outcome = make(problem, Schedule::in_order)->evaluate(placement, {});
      EXPECT_TRUE(outcome.feasible()) << name;
      EXPECT_EQ(in_units(outcome.makespan, us), instance["optimal"].get<Ticks>()) << name;
      EXPECT_LT(outcome.makespan - in_units(outcome.makespan, us) * us, 100) << name;  // picoseconds
    }
    sum += in_units(make_exact_engine(problem, Schedule::in_order)->evaluate(placement, {}).makespan, us);
  }
  EXPECT_EQ(sum, 44676);
}

// Calls visit(placement) for every placement of the first `ops` ops; the others stay on device 0.
template <class Visit>
void each_placement(const Problem& problem, std::size_t ops, Visit&& visit) {
  Placement placement{std::vector<std::uint8_t>(problem.op_count(), 0), {}};
  while (true) {
    visit(placement);
    std::size_t op = 0;
    while (op < ops && ++placement.device[op] == problem.device_count()) placement.device[op++] = 0;
    if (op == ops) return;
  }
}

TEST_F(Replay, TheBestPlacementOfAHetDagTakesItsOptimalTime) {
  const json optima = json::parse(read_file(folder + "het-dag/optimal.json"));
  ASSERT_EQ(optima.size(), 7U);
  for (const auto& [name, known] : optima.items()) {
    if (name == "Heteropar-4-12") continue;  // 4^12 placements
    const Problem problem = formats::read_problem_file({folder + "het-dag/" + name + ".txt", {}});
    const auto fifo = make_exact_engine(problem, Schedule::fifo);
    const auto priority = make_exact_engine(problem, Schedule::priority);
    Ticks least = total_limit;
    each_placement(problem, problem.op_count(), [&](Placement& placement) {
      placement.order = upward_rank_order(problem, placement.device);
      least = std::min({least, fifo->evaluate(placement).makespan, priority->evaluate(placement).makespan});
    });
    // No schedule is shorter than the optimum; on these graphs one of the two reaches it.
    EXPECT_EQ(in_units(least, us), known["optimal"].get<Ticks>()) << name;
  }
}

// Both tasks on the first device take 4 ms, which holds one of them only; apart they take 2 + 1 + 3.
TEST(ReplayTwoTasks, TheBestPlacementWithinTheMemoryTakesItsOptimalTime) {
  const Problem file = formats::read_problem_text(R"({"source": "s", "devices": 2, "memory": [5, 5],
    "tasks": [{"id": 0, "time": [2, 3], "mem": 3}, {"id": 1, "time": [2, 3], "mem": 3}],
    "edges": [{"src": 0, "dst": 1, "comm": [[0, 1], [1, 0]]}]})",
                                                  "two.json");
  Problem roomy = file;
  for (Device& device : roomy.devices) device.memory = no_memory_limit;
  EXPECT_EQ(in_units(test::best_of_all(roomy, Schedule::fifo), us), 4000);
  EXPECT_EQ(in_units(test::best_of_all(file, Schedule::fifo), us), 6000);
}

TEST_F(Replay, TheBestPlacementOfMoiraisExampleTakesItsOptimalTime) {
  // 28 without the memory limit and 30 with it, which needs a device to wait though an op is ready: in-order. The first
  // and the last task take no time, no memory and no transfer.
  const Problem file = formats::read_problem_file({folder + "moirai/example-1.json", {}});
  ASSERT_EQ(file.op_count(), 14U);
  Problem problem = file;
  for (Device& device : problem.devices) device.memory = no_memory_limit;
  const auto fifo = make_exact_engine(problem, Schedule::fifo);
  const auto fitting = make_exact_engine(file, Schedule::in_order);
  Ticks least = total_limit, least_fitting = total_limit;
  std::size_t fit = 0;
  Stream random{{.seed = 1, .purpose = Purpose::test}};
  const auto task = [&](std::size_t number) { return 1 + number; };
  each_placement(problem, 12, [&](const Placement& shifted) {
    Placement placement{std::vector<std::uint8_t>(14, 0), {}};
    std::vector<Bytes> used(3, 0);
    for (std::size_t i = 0; i < 12; ++i) {
      placement.device[task(i)] = shifted.device[i];
      used[shifted.device[i]] += file.resident[task(i)];
    }
    least = std::min(least, fifo->evaluate(placement).makespan);
    if (used[0] > file.devices[0].memory || used[1] > file.devices[1].memory || used[2] > file.devices[2].memory)
      return;
    ++fit;
    if (std::ranges::max(upward_ranks(file, placement.device)) > 31 * 1000 * us) return;  // no order helps
    for (int i = 0; i < 300; ++i) {
      placement.order = test::random_order(file, random);
      const Outcome outcome = fitting->evaluate(placement);
      EXPECT_TRUE(outcome.feasible());
      least_fitting = std::min(least_fitting, outcome.makespan);
    }
  });
  EXPECT_GT(fit, 0U);
  EXPECT_EQ(in_units(least, 1000 * us), 28);
  EXPECT_EQ(in_units(least_fitting, 1000 * us), 30);
}

}  // namespace
}  // namespace emplace::simulate::workload_replay_test
