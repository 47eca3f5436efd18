// The contract of every placer, checked for every entry of placers().
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::search::conformance_test {
namespace {

using namespace test;
using ::testing::HasSubstr;

constexpr Schedule schedules[] = {Schedule::fifo, Schedule::priority, Schedule::in_order};

// Counts the evaluations.
class CountingEvaluator final : public evaluate::DirectEvaluator {
 public:
  CountingEvaluator(const Problem& problem, evaluate::Scoring scoring) {
    const Problem* const list[] = {&problem};
    inner_ = evaluate::make_local_evaluator(list, scoring);
  }
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    count += jobs.size();
    return inner_->evaluate(jobs);
  }
  std::uint64_t count = 0;

 private:
  std::unique_ptr<evaluate::Evaluator> inner_;
};

// The objective with which a placer is tested: the step time, if the placer supports it for problems of every size.
Objective objective_for(const PlacerEntry& entry) {
  return entry.only_for.value_or(entry.in_best_for.value_or(Objective::step));
}

// Any placement can be the expert's; this one has units that cannot run on their device, and it splits groups.
Problem with_expert(Problem problem) {
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    problem.expert.push_back(static_cast<std::uint8_t>(op % problem.device_count()));
  return problem;
}

// A request with the problem, and without budgets.
PlacerRequest request_for(const PlacerEntry& entry, const Problem& problem) {
  PlacerRequest request;
  request.problem = &problem;
  request.objective = objective_for(entry);
  return request;
}

// False if the placer cannot place the problem; then checks that it refuses it with the reason.
bool answers(const PlacerEntry& entry, const Problem& problem) {
  const PlacerRequest request = request_for(entry, problem);
  const std::string why = entry.unfit ? entry.unfit(request) : "";
  if (why.empty()) return true;
  try {
    place_with(entry.name, request, ConfigTable("command line"));
    ADD_FAILURE() << "accepted: " << why;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(why));
  }
  return false;
}

PlacerResult place(const PlacerEntry& entry, const Problem& problem, Schedule schedule = Schedule::fifo,
                   std::optional<std::uint64_t> budget = 50, std::uint64_t seed = 1, std::uint64_t* counted = nullptr) {
  CountingEvaluator evaluator(problem, {schedule, objective_for(entry)});
  PlacerRequest request = request_for(entry, problem);
  request.schedule = schedule;
  request.seed = seed;
  request.evaluations = budget;
  request.evaluator = &evaluator;
  const std::string method = entry.name == "device" ? "device:" + problem.devices.back().name : entry.name;
  PlacerResult result = place_with(method, request, ConfigTable{});
  if (counted != nullptr) *counted = evaluator.count;
  return result;
}

// 30 ops, three kinds of devices, groups, ops that some devices cannot run (b only runs on cpu:0), tight memory.
Problem rich_problem(std::uint64_t seed = 7) {
  Stream random{{.seed = seed}};
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 30; ++i) {
    const auto cost = [&] { return 1.0 + random.below(9); };
    TinyOp op{"op" + std::to_string(i), {10 * cost(), cost(), cost(), cost()}, "", random.below(5), random.below(5)};
    if (i % 5 == 0) op.colocate = "group" + std::to_string(i % 3);
    if (i % 7 == 3) op.milliseconds[1 + random.below(3)] = no;
    if (i == 11) op.milliseconds = {5, no, no, no};
    ops.push_back(op);
    if (i > 0) edges.push_back({random.below(static_cast<std::uint32_t>(i)), i});
    if (i > 3 && edges.back().from != i - 3) edges.push_back({i - 3, i});
  }
  return tiny({{"cpu:0", "cpu", no_memory_limit}, {"gpu:0", "gpu", 60}, {"gpu:1", "gpu", 60}, {"npu:0", "npu", 60}},
              ops, edges, 0.5);
}

class EveryPlacer : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const PlacerEntry& entry() const { return placers()[GetParam()]; }
  // The outcome of a placement by an engine that the placer did not use.
  [[nodiscard]] Outcome simulated(const Problem& problem, Schedule schedule, const Placement& placement) const {
    return objective_for(entry()) == Objective::pipeline
               ? simulate::make_pipeline_engine(problem)->evaluate(placement)
               : simulate::make_reference_engine(problem, schedule)->evaluate(placement);
  }
};

TEST_P(EveryPlacer, HasANameASummaryAndListedOptions) {
  EXPECT_FALSE(entry().name.empty());
  EXPECT_EQ(entry().summary.back(), '.');
  for (const OptionInfo& option : entry().options()) EXPECT_FALSE(option.help.empty()) << option.name;
}

TEST_P(EveryPlacer, ReturnsAValidPlacementWhoseOutcomeIsItsSimulation) {
  const Problem problem = with_expert(rich_problem());
  for (const Schedule schedule : schedules) {
    const PlacerResult result = place(entry(), problem, schedule);
    check_placement(problem, result.placement);
    EXPECT_EQ(result.placement.order.empty(), schedule == Schedule::fifo);
    EXPECT_EQ(simulated(problem, schedule, result.placement), result.outcome);
    EXPECT_FALSE(result.proved_optimal);
  }
}

TEST_P(EveryPlacer, KeepsGroupsTogetherAndOpsWhereTheyRun) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = with_expert(rich_problem(seed));
    const PlacerResult result = place(entry(), problem);
    EXPECT_NE(result.outcome.why, Infeasible::unsupported_op);
    EXPECT_NE(result.outcome.why, Infeasible::split_group);
    for (std::size_t a = 0; a < problem.op_count(); ++a)
      EXPECT_TRUE(problem.can_run(OpId{a}, DeviceId{std::size_t{result.placement.device[a]}}));
  }
}

// How many tensors have a consumer elsewhere.
std::size_t cuts_of(const Problem& problem, const Placement& placement) {
  std::set<std::uint32_t> cut;
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    for (const std::uint32_t tensor : problem.inputs[op])
      if (placement.device[problem.producer[tensor].index()] != placement.device[op]) cut.insert(tensor);
  return cut.size();
}

// The smaller the limit, the fewer placers keep to it; each says so.
TEST_P(EveryPlacer, KeepsToALimitOnCutsOrReportsThatItsPlacementBreaksIt) {
  EXPECT_TRUE(rc::check("law", [this] {
    Problem problem = with_expert(rich_problem(*rc::gen::inRange<std::uint64_t>(0, 1000)));
    problem.max_cuts = *rc::gen::inRange<std::uint32_t>(0, 20);
    const PlacerResult result = place(entry(), problem);
    RC_ASSERT(result.outcome == simulated(problem, Schedule::fifo, result.placement));
    const std::size_t cuts = cuts_of(problem, result.placement);
    if (result.outcome.feasible()) RC_ASSERT(cuts <= problem.max_cuts);
    if (result.outcome.why == Infeasible::too_many_cuts) RC_ASSERT(cuts == result.outcome.subject);
    if (cuts > problem.max_cuts) RC_ASSERT(!result.proved_optimal);
  }));
}

// CBC 2.10.8 ends its process on this integer program: its cuts at the root cross the bounds of a column. Without cuts
// it solves the program.
TEST(Milp, SolvesAProgramOnWhichTheSolverCrashesAndSaysSo) {
  Problem problem = with_expert(rich_problem(30));
  problem.max_cuts = 5;
  ::testing::internal::CaptureStderr();
  const PlacerResult result = place(*std::ranges::find(placers(), "milp", &PlacerEntry::name), problem);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_TRUE(result.outcome.feasible());
  EXPECT_EQ(result.note, "no contiguous split has a smaller load");
  if (!said.empty())  // another version of CBC may solve it at once
    EXPECT_THAT(said, HasSubstr("the solver CBC failed: signal 6 (Aborted); it starts again without cuts"));
}

TEST_P(EveryPlacer, GivesTheSameResultForTheSameSeed) {
  const Problem problem = with_expert(rich_problem());
  for (const Schedule schedule : schedules) {
    const PlacerResult first = place(entry(), problem, schedule);
    const PlacerResult second = place(entry(), problem, schedule);
    EXPECT_EQ(first.placement, second.placement);
    EXPECT_EQ(first.outcome, second.outcome);
    EXPECT_EQ(first.evaluations, second.evaluations);
  }
}

TEST_P(EveryPlacer, CountsItsEvaluationsAndKeepsToTheBudget) {
  const Problem problem = with_expert(rich_problem());
  for (const Schedule schedule : schedules)
    for (const std::uint64_t budget : {1, 2, 5, 33}) {
      std::uint64_t counted = 0;
      const PlacerResult result = place(entry(), problem, schedule, budget, 1, &counted);
      if (entry().own_engine)
        EXPECT_GE(result.evaluations, counted);
      else
        EXPECT_EQ(result.evaluations, counted);
      EXPECT_GE(counted, 1u);
      EXPECT_LE(result.evaluations, budget);
    }
}

TEST_P(EveryPlacer, EndsSoonWithABudgetOfSeconds) {
  const Problem problem = with_expert(rich_problem());
  CountingEvaluator evaluator(problem, {Schedule::fifo, objective_for(entry())});
  PlacerRequest request = request_for(entry(), problem);
  request.seconds = 1e-9;
  request.evaluator = &evaluator;
  const std::string method = entry().name == "device" ? "device:gpu:0" : entry().name;
  EXPECT_EQ(place_with(method, request, ConfigTable{}).evaluations, 1u);
}

class EveryPlacerForOneObjective : public EveryPlacer {};

TEST_P(EveryPlacerForOneObjective, RefusesTheOther) {
  const Problem problem = with_expert(rich_problem());
  PlacerRequest request;
  request.problem = &problem;
  request.objective = *entry().only_for == Objective::step ? Objective::pipeline : Objective::step;
  EXPECT_THROW(place_with(entry().name, request, ConfigTable{}), InputError);
}

TEST_P(EveryPlacer, RefusesUnknownOptions) {
  const Problem problem = with_expert(rich_problem());
  CountingEvaluator evaluator(problem, {Schedule::fifo, objective_for(entry())});
  PlacerRequest request = request_for(entry(), problem);
  request.evaluator = &evaluator;
  ConfigTable options("command line");
  options.set("no_such_option", {std::int64_t{1}, "command line"});
  const std::string method = entry().name == "device" ? "device:gpu:0" : entry().name;
  try {
    place_with(method, request, options);
    FAIL() << "accepted no_such_option";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no_such_option"));
  }
}

TEST_P(EveryPlacer, SolvesAProblemOfOneOpAndOneDevice) {
  const Problem problem = with_expert(tiny(plain_devices(1), {{"a", {3}}}, {}));
  if (!answers(entry(), problem)) return;
  for (const Schedule schedule : schedules) EXPECT_EQ(place(entry(), problem, schedule).outcome.makespan, 3 * ms);
}

TEST_P(EveryPlacer, FindsTheOnlyPlacementThereIs) {
  // a runs on device 0 only, b on device 1 only: 3 + 2 (transfer) + 4; in a pipeline the second pays 2 + 4.
  const Problem problem = with_expert(tiny(plain_devices(2), {{"a", {3, no}}, {"b", {no, 4}}}, {{0, 1}}, 2));
  if (!answers(entry(), problem)) return;
  const Ticks expected = objective_for(entry()) == Objective::pipeline ? 6 * ms : 9 * ms;
  EXPECT_EQ(place(entry(), problem).outcome.makespan, expected);
}

std::string name_of_placer(const ::testing::TestParamInfo<std::size_t>& placer) {
  std::string name = placers()[placer.param].name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::vector<std::size_t> placers_for_one_objective() {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < placers().size(); ++i)
    if (placers()[i].only_for) found.push_back(i);
  return found;
}

INSTANTIATE_TEST_SUITE_P(Search, EveryPlacer, ::testing::Range<std::size_t>(0, placers().size()), name_of_placer);
INSTANTIATE_TEST_SUITE_P(Search, EveryPlacerForOneObjective, ::testing::ValuesIn(placers_for_one_objective()),
                         name_of_placer);

}  // namespace
}  // namespace emplace::search::conformance_test
