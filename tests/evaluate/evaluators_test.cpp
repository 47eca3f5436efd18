// The contract of every evaluator (emplace/evaluate/evaluator.hpp), checked for every entry of evaluators().
#include "emplace/evaluate/evaluator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/files.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::evaluate::evaluators_test {
namespace {

using namespace ::testing;
using emplace::test::plain_devices;
using emplace::test::tiny;

class EveryEvaluator : public ::testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] const EvaluatorEntry& entry() const { return evaluators()[GetParam()]; }
  [[nodiscard]] ConfigTable options() const {
    ConfigTable table("test");
    if (entry().name == "command") table = ConfigTable::parse_toml(R"(run = ["sh", "-c", "echo 0.001"])", "test");
    return entry().resolve(table);
  }
  [[nodiscard]] std::unique_ptr<Evaluator> make() const {
    return make_evaluator({entry().name, options()}, {problems_, Schedule::fifo});
  }

  const Problem one_ = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {3, 1}}}, {{0, 1}}, 1);
  const Problem two_ = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {3, 1}}, {"c", {2, 2}}}, {{0, 1}, {0, 2}}, 1);
  const Problem* const problems_[2] = {&one_, &two_};
};

INSTANTIATE_TEST_SUITE_P(Listed, EveryEvaluator, ::testing::Range<std::size_t>(0, evaluators().size()),
                         [](const auto& entry) { return evaluators()[entry.param].name; });

TEST_P(EveryEvaluator, SaysWhatItIsInOneSentence) {
  EXPECT_THAT(entry().summary, EndsWith("."));
  for (const OptionInfo& option : entry().options()) EXPECT_THAT(option.help, EndsWith(".")) << option.name;
}

TEST_P(EveryEvaluator, AnswersEachJobInItsPlace) {
  const Placement placements[] = {{{0, 0}, {}}, {{1, 0, 1}, {}}, {{1, 1}, {}}};
  const EvaluationJob jobs[] = {{0, &placements[0]}, {1, &placements[1]}, {0, &placements[2]}, {0, &placements[0]}};
  const auto evaluator = make();
  const std::vector<Outcome> outcomes = evaluator->evaluate(jobs);
  ASSERT_EQ(outcomes.size(), 4U);
  EXPECT_THAT(evaluator->evaluate({}), IsEmpty());
  for (const Outcome& outcome : outcomes) EXPECT_TRUE(outcome.feasible());
  if (entry().measures) return;
  EXPECT_EQ(outcomes[0], outcomes[3]);
  EXPECT_EQ(evaluator->evaluate(std::span(jobs).subspan(1, 2)), std::vector<Outcome>({outcomes[1], outcomes[2]}));
}

TEST_P(EveryEvaluator, LeavesNoStartTimesOfAnotherPlacementBehind) {
  const Placement placement{{0, 1}, {}};
  std::vector<Ticks> starts{7, 7, 7};
  const EvaluationJob job{0, &placement, &starts};
  (void)make()->evaluate(std::span(&job, 1));
  EXPECT_THAT(starts, SizeIs(entry().measures ? 0 : 2));
}

TEST_P(EveryEvaluator, ResolvesItsOptionsToWhatResolvesToItself) {
  const ConfigTable once = options();
  EXPECT_EQ(entry().resolve(once).to_toml(), once.to_toml());
  for (const OptionInfo& option : entry().options())
    EXPECT_TRUE(once.contains(option.name) || option.default_value.empty()) << option.name;
}

TEST_P(EveryEvaluator, RefusesAnOptionThatItDoesNotHave) {
  ConfigTable table = options();
  table.set("no_such_option", {true, "test"});
  EXPECT_THROW(entry().resolve(table), InputError);
}

TEST(SleepEvaluator, GivesTheSimulatorsOutcomesLater) {
  const Problem problem = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {3, 1}}}, {{0, 1}}, 1);
  const Problem* const list[] = {&problem};
  const Placement placement{{0, 1}, {}};
  const std::vector<EvaluationJob> jobs(3, {0, &placement});
  const auto begin = std::chrono::steady_clock::now();
  const auto outcomes =
      make_evaluator({"sleep", ConfigTable::parse_toml("seconds = 0.02", "test")}, {list, {}})->evaluate(jobs);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(60));
  EXPECT_EQ(outcomes, make_local_evaluator(list, {})->evaluate(jobs));
}

TEST(Evaluators, AnUnknownNameIsRefusedWithTheNearestOne) {
  EXPECT_THAT([] { (void)make_evaluator({"simulater", {}}, {}); }, ThrowsMessage<InputError>(HasSubstr("simulator")));
}

TEST(CommandEvaluator, RunsAProgramAgainThatFailsButNotOneThatSaysInfeasible) {
  const Problem problem = tiny(plain_devices(2), {{"a", {1, 2}}}, {});
  const Problem* const problems[] = {&problem};
  const auto runs_of = [&](const std::string& script) {
    const test::TemporaryFolder folder;
    ConfigTable options = ConfigTable::parse_toml("repeat = 2\nretries = 3\n", "test");
    const std::string counting = "echo x >>" + (folder / "runs") + "; " + script;
    options.set("run", {ConfigList{{"sh", "test"}, {"-c", "test"}, {counting, "test"}}, "test"});
    EvaluatorChoice choice{"command", options};
    choice.options = entry_of(choice).resolve(options);
    const Placement placement{{0}, {}};
    const EvaluationJob job{0, &placement};
    const Outcome outcome = make_evaluator(choice, {problems, Schedule::fifo})->evaluate({&job, 1}).front();
    EXPECT_EQ(outcome.why, Infeasible::not_measured) << script;
    return read_file(folder / "runs");
  };
  EXPECT_EQ(runs_of("exit 1"), "x\nx\nx\nx\n");
  EXPECT_EQ(runs_of("echo '{\"feasible\": false}'"), "x\n");
}

TEST(CommandEvaluator, DoesNotMeasureAPlacementWithTooManyCuts) {
  Problem problem = tiny(plain_devices(2), {{"a", {1, 2}}, {"b", {3, 1}}}, {{0, 1}}, 1);
  problem.max_cuts = 0;
  const Problem* const problems[] = {&problem};
  const test::TemporaryFolder folder;
  ConfigTable options = ConfigTable::parse_toml("repeat = 1\n", "test");
  const std::string counting = "echo x >>" + (folder / "runs") + "; echo 0.5";
  options.set("run", {ConfigList{{"sh", "test"}, {"-c", "test"}, {counting, "test"}}, "test"});
  EvaluatorChoice choice{"command", options};
  choice.options = entry_of(choice).resolve(options);
  const Placement cut{{0, 1}, {}}, together{{1, 1}, {}};
  const EvaluationJob jobs[] = {{0, &cut}, {0, &together}};
  const auto outcomes = make_evaluator(choice, {problems, Schedule::fifo})->evaluate(jobs);
  EXPECT_EQ(outcomes[0], (Outcome{.why = Infeasible::too_many_cuts, .subject = 1}));
  EXPECT_EQ(outcomes[1], (Outcome{.makespan = 500 * test::ms}));
  EXPECT_EQ(read_file(folder / "runs"), "x\n");
}

// The placements of two problems, asked of a shell script that is started with `keep`.
class KeptCommand : public ::testing::Test {
 protected:
  std::vector<Outcome> outcomes_of(const std::string& script, const std::string& more = "") {
    ConfigTable options = ConfigTable::parse_toml("keep = true\nrepeat = 1\n" + more, "test");
    options.set("run",
                {ConfigList{{"sh", "test"}, {"-c", "test"}, {"echo start >>starts; " + script, "test"}}, "test"});
    options.set("folder", {folder_.path(), "test"});
    EvaluatorChoice choice{"command", options};
    choice.options = entry_of(choice).resolve(options);
    const auto evaluator = make_evaluator(choice, {problems_, Schedule::fifo, 7});
    std::vector<EvaluationJob> jobs;
    for (std::size_t i = 0; i < 4; ++i) jobs.push_back({0, &placement_, nullptr, EvaluationJob::no_series, &why_[i]});
    jobs[2].problem = 1;
    return evaluator->evaluate(jobs);
  }
  [[nodiscard]] std::string starts() const { return read_file(folder_ / "starts"); }

  const test::TemporaryFolder folder_;
  const Problem one_ = tiny(plain_devices(2), {{"a", {1, 2}}}, {});
  const Problem two_ = tiny(plain_devices(2), {{"b", {1, 2}}}, {});
  const Problem* const problems_[2] = {&one_, &two_};
  const Placement placement_{{1}, {}};
  std::string why_[4];
};

TEST_F(KeptCommand, IsStartedOnceForEachProblemAndGetsEachPlacementOnALine) {
  const auto outcomes = outcomes_of(
      "i=0; while read line; do i=$((i + 1)); echo $i; echo $EMPLACE_RANK \"$line\" >>lines; done", "warmup = 1");
  // The programs count their answers; the first for a placement is its warm-up.
  for (const auto& [job, seconds] : {std::pair{0, 2}, {1, 4}, {2, 2}, {3, 6}})
    EXPECT_EQ(outcomes[static_cast<std::size_t>(job)], (Outcome{.makespan = seconds * 1000 * test::ms})) << job;
  EXPECT_EQ(starts(), "start\nstart\n");
  const std::string lines = read_file(folder_ / "lines");
  EXPECT_EQ(std::ranges::count(lines, '\n'), 8);
  EXPECT_THAT(lines, AllOf(StartsWith("7 {"), HasSubstr("\"b\":")));
}

TEST_F(KeptCommand, MeasuresAPlacementAgainThatIsFasterThanAllBefore) {
  // Jobs 0, 1 and 3 are of one problem: 3 s, which two more runs confirm; 1 s by luck, where two more say 4; 3.5 s.
  const auto outcomes = outcomes_of("for s in 3 3 3 1 4 4 3.5 x; do read line; echo $s; done", "confirm = 2");
  EXPECT_EQ(outcomes[0].makespan, 3000 * test::ms);
  EXPECT_EQ(outcomes[1].makespan, 4000 * test::ms);
  EXPECT_EQ(outcomes[3].makespan, 3500 * test::ms) << "once: three seconds are the fastest";
}

TEST_F(KeptCommand, GoesOnAfterAnErrorThatItReportsAndIsStartedAgainAfterNonsense) {
  const std::string third = "i=0; while read line; do i=$((i + 1)); [ $i -lt 2 ] && echo 1 || echo ";
  const auto error = outcomes_of(third + "'{\"error\": \"out of memory\"}'; done", "retries = 2");
  EXPECT_TRUE(error[0].feasible() && error[2].feasible());
  EXPECT_EQ(error[1].why, Infeasible::not_measured);
  EXPECT_THAT(why_[1], AllOf(HasSubstr("/sh"), EndsWith(": out of memory")));
  EXPECT_EQ(starts(), "start\nstart\n");
  std::filesystem::remove(folder_ / "starts");
  const auto nonsense = outcomes_of(third + "nonsense; done", "retries = 0");
  EXPECT_EQ(nonsense[1].why, Infeasible::not_measured);
  EXPECT_THAT(why_[1], HasSubstr("it printed 'nonsense'"));
  EXPECT_TRUE(nonsense[3].feasible());
  EXPECT_EQ(starts(), "start\nstart\nstart\n");
}

}  // namespace
}  // namespace emplace::evaluate::evaluators_test
