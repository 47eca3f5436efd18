// Inputs that matter and inputs that do not.
#include "doctor/inputs.hpp"

#include <gmock/gmock.h>

#include "doctor/problem_inputs.hpp"
#include "emplace/base/error.hpp"
#include "emplace/simulate/engine.hpp"
#include "experiment/recipe/recipe.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::doctor::inputs_test {
namespace {

using namespace ::testing;
using Effect = KeyTrial::Effect;

Examination examine(const std::vector<std::string>& keys) {
  ConfigTable recipe = ConfigTable::parse_toml(R"(graph = "zoo:nmt?layers=2&sequence=4&training=true"
machine = "k40x2"
policy = "post"
learner = "post"
groups = 16
[post]
samples_per_update = 10
window = 20
)",
                                               "recipe");
  experiment::apply_overrides(recipe, keys);
  const test::TemporaryFolder folder;
  return examine_inputs(recipe, {.updates = 4, .seconds = 3000, .folder = folder.path()});
}

const KeyTrial& trial_of(const Examination& examination, const std::string& key) {
  for (const KeyTrial& trial : examination.keys)
    if (trial.key == key) return trial;
  throw std::runtime_error("no key " + key);
}

// With the KL penalty ratios are not clipped; with clipped ratios there is no penalty to weigh.
TEST(ExamineInputs, FindsTheOptionThatAnotherOneSwitchesOff) {
  const Examination kl = examine({});
  EXPECT_TRUE(kl.repeatable);
  EXPECT_EQ(kl.updates, 4U);
  EXPECT_EQ(kl.evaluations, 40U);
  EXPECT_EQ(trial_of(kl, "post.clip_ratio").effect, Effect::none);
  EXPECT_THAT(trial_of(kl, "post.clip_ratio").tried, SizeIs(3));
  EXPECT_EQ(trial_of(kl, "post.beta").effect, Effect::outcome);
  EXPECT_THAT(trial_of(kl, "post.beta").changed, Contains("rewards"));
  EXPECT_EQ(trial_of(kl, "seed").effect, Effect::outcome);
  for (const KeyTrial& trial : kl.keys) {
    EXPECT_NE(trial.effect, Effect::broken) << trial.key;
    EXPECT_EQ(trial.effect == Effect::by_design, without_effect_by_design(trial.key)) << trial.key << trial.reason;
    EXPECT_EQ(trial.effect == Effect::not_tried, !trial.reason.empty()) << trial.key;
  }
  EXPECT_EQ(trial_of(kl, "graph").effect, Effect::not_tried);
  EXPECT_FALSE(kl.problem.empty());

  const Examination clip = examine({"post.form=clip"});
  EXPECT_EQ(trial_of(clip, "post.clip_ratio").effect, Effect::outcome);
  EXPECT_EQ(trial_of(clip, "post.beta").effect, Effect::state);  // the learner keeps it, and never reads it
}

TEST(ExamineInputs, SaysWhatItHadNoTimeFor) {
  ConfigTable recipe = ConfigTable::read_toml("configs/recipes/quickstart.toml");
  experiment::apply_overrides(recipe, {"graph=zoo:nmt?layers=2&sequence=4&training=true"});
  const test::TemporaryFolder folder;
  const Examination none = examine_inputs(recipe, {.updates = 2, .seconds = 1e-3, .folder = folder.path()});
  EXPECT_EQ(none.updates, 1U);  // one at least
  EXPECT_EQ(trial_of(none, "seed").effect, Effect::not_tried);
  EXPECT_THAT(trial_of(none, "seed").reason, HasSubstr("over"));
  ASSERT_FALSE(none.problem.empty());
  EXPECT_THAT(none.problem.front().not_tried, ElementsAre("cpu:0", "gpu:0", "gpu:1"));
  EXPECT_EQ(none.problem.front().reason, "half of the 0.001 s were over");
}

TEST(ExamineInputs, RefusesTimesThatDifferByThemselves) {
  ConfigTable recipe = ConfigTable::read_toml("configs/recipes/measured.toml");
  experiment::apply_overrides(recipe,
                              {"problem=configs/problems/two-branches.json", "command.run=[\"launch/measure\"]"});
  try {
    static_cast<void>(examine_inputs(recipe, {}));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("evaluator 'command' measures"));
  }
}

// gpu:0 runs a for 2 ms, the transfer takes 5 ms, cpu:0 runs b for 10 ms; gpu:1 has nothing to do.
TEST(ProblemInputs, MatterWhereThePlacementUsesThem) {
  const Problem problem = emplace::test::tiny({{"cpu:0", "cpu"}, {"gpu:0", "gpu", 1000}, {"gpu:1", "gpu", 1000}},
                                              {{.name = "a", .milliseconds = {20, 2, 2}, .resident = 600, .bytes = 8},
                                               {.name = "b", .milliseconds = {10, 9, 9}}},
                                              {{0, 1}}, 5);
  const Placement placement{.device = {1, 0}, .order = {}};
  const auto trials = try_problem_inputs(problem, [&](const Problem& changed) {
    return simulate::make_reference_engine(changed, Schedule::fifo)->evaluate(placement);
  });
  const auto expect = [&](const std::string& input, const auto& with, const auto& without) {
    for (const ProblemTrial& trial : trials)
      if (trial.input == input) {
        EXPECT_THAT(trial.with_effect, with) << input;
        EXPECT_THAT(trial.without, without) << input;
        return;
      }
    ADD_FAILURE() << input << " was not tried";
  };
  expect("op seconds", ElementsAre("cpu:0", "gpu:0"), ElementsAre("gpu:1"));
  expect("memory limit", ElementsAre("gpu:0"), ElementsAre("gpu:1"));  // 600 of then 500 bytes
  expect("channel latency", ElementsAre("1>0"), SizeIs(5));
  expect("channel bandwidth", IsEmpty(), SizeIs(6));        // 8 bytes at 1e30 bytes/s
  expect("resident bytes", ElementsAre("all"), IsEmpty());  // 1200 of 1000
  expect("scratch bytes", IsEmpty(), ElementsAre("all"));
}

// All bytes and all times together may be 2^62, of bytes and of ps: 3/4 of it is legal and twice that is not.
TEST(ProblemInputs, ThatWouldBeMoreThanAProblemMayHaveAreNotTried) {
  const Problem problem =
      emplace::test::tiny({{"cpu:0", "cpu"}, {"gpu:0", "gpu"}},
                          {{.name = "a", .milliseconds = {3.4e9, 1}, .resident = 3LL << 60, .bytes = 8},
                           {.name = "b", .milliseconds = {1, 1}}},
                          {{0, 1}}, 5);
  const auto trials = try_problem_inputs(problem, [&](const Problem& changed) {
    return simulate::make_reference_engine(changed, Schedule::fifo)->evaluate({.device = {1, 1}, .order = {}});
  });
  const auto expect = [&](const std::string& input, const auto& tried, const auto& not_tried, const auto& reason) {
    for (const ProblemTrial& trial : trials)
      if (trial.input == input) {
        EXPECT_THAT(trial.with_effect.size() + trial.without.size(), tried) << input;
        EXPECT_THAT(trial.not_tried, not_tried) << input;
        EXPECT_THAT(trial.reason, reason) << input;
        return;
      }
    ADD_FAILURE() << input << " is not there";
  };
  expect("op seconds", 1U, ElementsAre("cpu:0"), HasSubstr("4611686 s"));
  expect("resident bytes", 0U, ElementsAre("all"), HasSubstr("2^62"));
  expect("scratch bytes", 1U, IsEmpty(), IsEmpty());
}

}  // namespace
}  // namespace emplace::doctor::inputs_test
