// Options that have no effect: which ones a recipe is warned about, and that they really have none.
#include "experiment/recipe/idle_options.hpp"

#include <gmock/gmock.h>

#include <map>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "emplace/policy/policy.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "experiment/sweep/sweep_checks.hpp"
#include "learn/learner.hpp"
#include "serving/stage_evaluator.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::idle_options_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<std::string> sentences(const std::string& toml) {
  const ConfigTable table = ConfigTable::parse_toml("problem = \"configs/problems/two-branches.json\"\n" + toml, "r");
  std::vector<std::string> list;
  for (const IdleOption& idle : idle_options(make_recipe(table).resolved())) list.push_back(sentence_of(idle));
  return list;
}

TEST(IdleOptions, AreNamedWithTheOptionThatMakesThemIdle) {
  EXPECT_THAT(sentences("learner = 'ppo'\n[ppo]\nform = 'clip'\nbeta = 2.0"),
              ElementsAre("ppo.beta has no effect: ppo.form is 'clip', it needs 'kl'"));
  EXPECT_THAT(sentences("learner = 'ppo'\n[ppo]\nform = 'kl'\nbeta = 2.0"), IsEmpty());
  EXPECT_THAT(sentences("[post]\ncoarse_share = 0.5"),
              ElementsAre("post.coarse_share has no effect: post.coarse_units is '0'"));
}

TEST(IdleOptions, WithTheirDefaultsAreNotNamed) {
  EXPECT_THAT(sentences("learner = 'ppo'\n[ppo]\nform = 'clip'\nbeta = 1.0"), IsEmpty());
}

// Which need more than a condition on another option.
TEST(IdleOptions, AreNamedWithThePolicyTheBudgetOrTheProblemsThatMakeThemIdle) {
  EXPECT_THAT(sentences("[post]\nfit_steps = 3"),
              ElementsAre("post.fit_steps has no effect: policy is 'post', which is refitted in closed form"));
  EXPECT_THAT(sentences("policy = 'gdp'\nlearner = 'post'\n[post]\nfit_steps = 3"), IsEmpty());
  EXPECT_THAT(sentences("learner = 'cross-entropy'\n[cross-entropy]\nfit_steps = 3\nlearning_rate = 0.5\n"
                        "optimizer = 'sgd'\nclip_norm = 2.0\nelite_fraction = 0.2"),
              UnorderedElementsAre(HasSubstr("cross-entropy.fit_steps has no effect: policy is 'post', which"),
                                   HasSubstr("cross-entropy.learning_rate has no effect: policy is 'post', which"),
                                   HasSubstr("cross-entropy.optimizer has no effect: policy is 'post', which"),
                                   HasSubstr("cross-entropy.clip_norm has no effect: policy is 'post', which")));
  EXPECT_THAT(sentences("[post]\nsteps = 'proximal'\nwindow = 20"),
              ElementsAre("post.window has no effect: post.steps is 'proximal', it needs 'both' or 'cross-entropy'"));
  EXPECT_THAT(
      sentences("evaluations = 4000\n[post]\nsamples = 100"),
      ElementsAre("post.samples has no effect: it is for trainings without a budget, but evaluations is '4000'"));
  EXPECT_THAT(sentences("learner = 'ppo'\nseconds = 2.5\n[ppo]\nupdates = 3"),
              ElementsAre("ppo.updates has no effect: it is for trainings without a budget, but seconds is '2.5'"));
  EXPECT_THAT(sentences("learner = 'ppo'\n[ppo]\nupdates = 3"), IsEmpty());
  EXPECT_THAT(sentences("learner = 'ppo'\n[ppo]\nreturns = 'step'\ndiscount = 0.5"),
              UnorderedElementsAre("ppo.returns has no effect: policy is 'post', which places in one round",
                                   "ppo.discount has no effect: policy is 'post', which places in one round"));
  EXPECT_THAT(sentences("policy = 'placeto'\nlearner = 'ppo'\n[ppo]\nreturns = 'step'\ndiscount = 0.5"), IsEmpty());
  EXPECT_THAT(sentences("learner = 'ppo'\n[ppo]\nreturns = 'own'\ndiscount = 0.5"), IsEmpty());
  EXPECT_THAT(sentences("learner = 'ppo'\n[ppo]\ninfeasible = 'zero'\nt_fail = 3.0"),
              ElementsAre("ppo.t_fail has no effect: ppo.infeasible is 'zero'"));
  EXPECT_THAT(sentences("held_out_every = 3"), ElementsAre("held_out_every has no effect: held_out is not given"));
  EXPECT_THAT(sentences("problems_per_update = 1"),
              ElementsAre("problems_per_update has no effect: there is one problem"));
  EXPECT_THAT(sentences("cache = 'none'"),
              ElementsAre("cache has no effect: evaluator is 'simulator', whose outcomes only cache = 'all' keeps"));
  EXPECT_THAT(sentences("cache = 'all'"), IsEmpty());
}

TEST(IdleOptions, AreHeldProblemsOfARunThatEndsBeforeOthersAreDrawn) {
  const auto of = [](const std::string& budget) {
    const ConfigTable table = ConfigTable::parse_toml(
        "problems = ['configs/problems/two-branches.json', 'configs/problems/two-branches.json']\npolicy = "
        "'gdp'\nlearner = 'ppo'\n"
        "problems_per_update = 1\nhold_problems = 20\nppo.samples_per_update = 8\n" +
            budget,
        "r");
    std::vector<std::string> list;
    for (const IdleOption& idle : idle_options(make_recipe(table).resolved())) list.push_back(sentence_of(idle));
    return list;
  };
  EXPECT_THAT(of("updates = 20"), ElementsAre("hold_problems has no effect: updates is '20', so that the problems of "
                                              "the first update are those of all"));
  EXPECT_THAT(of("evaluations = 160"), ElementsAre(HasSubstr("hold_problems has no effect: evaluations is '160'")));
  EXPECT_THAT(of("updates = 21"), IsEmpty());
  EXPECT_THAT(of("evaluations = 168"), IsEmpty());
}

TEST(IdleOptions, OfRefitsAreThoseOfABudgetBelowOneWindow) {
  EXPECT_THAT(sentences("evaluations = 100\n[post]\nelite_fraction = 0.2"),
              ElementsAre("post.elite_fraction has no effect: evaluations is '100', so the training ends before the "
                          "first refit (post.window is 200)"));
  EXPECT_THAT(sentences("updates = 9\n[post]\nelite_fraction = 0.2\nsamples_per_update = 20"),
              ElementsAre(HasSubstr("post.elite_fraction has no effect: updates is '9', so")));
  EXPECT_THAT(sentences("evaluations = 200\n[post]\nelite_fraction = 0.2"), IsEmpty());
  EXPECT_THAT(sentences("evaluations = 100\n[post]\nelite_fraction = 0.2\nwindow = 20"), IsEmpty());
}

TEST(IdleOptions, OfDecaysInStepsAreThoseOfABudgetThatEndsBeforeTheFirst) {
  const std::string decay = "learner = 'reinforce'\n[reinforce]\nlearning_rate_decay = 0.95\n";
  EXPECT_THAT(
      sentences("updates = 40\n" + decay + "learning_rate_decay_every = 50"),
      ElementsAre("reinforce.learning_rate_decay_every has no effect: updates is '40', so the training ends after "
                  "40 steps, before the first decay; learning_rate_share fits any budget"));
  EXPECT_THAT(sentences("evaluations = 300\n" + decay + "learning_rate_decay_every = 50\nsamples_per_update = 10"),
              ElementsAre(HasSubstr("after 30 steps")));
  EXPECT_THAT(sentences("updates = 50\n" + decay + "learning_rate_decay_every = 50"), IsEmpty());
  EXPECT_THAT(sentences("updates = 10\nlearner = 'ppo'\n[ppo]\nlearning_rate_decay = 0.5\nepochs = 4\n"
                        "learning_rate_decay_every = 30"),
              IsEmpty())
      << "40 steps, one for each epoch";
}

TEST(IdleOptions, NameAnUpdateForExcludingInfeasiblePlacementsThatTheTrainingDoesNotReach) {
  const std::string recipe = "learner = 'reinforce'\n[reinforce]\nsamples_per_update = 10\n";
  EXPECT_THAT(
      sentences("evaluations = 300\n" + recipe + "skip_failing_after = 31"),
      ElementsAre("reinforce.skip_failing_after has no effect: evaluations is '300', so the training ends after "
                  "30 updates"));
  EXPECT_THAT(sentences("evaluations = 300\n" + recipe + "skip_failing_after = 29"), IsEmpty());
  EXPECT_THAT(sentences("evaluations = 300\n" + recipe + "skip_failing_after = 1000000000"), IsEmpty())
      << "which is said to mean never";
}

TEST(IdleOptions, KnowWhichPoliciesHaveAClosedFormAndWhichHaveOneRound) {
  const Problem problem = test::two_chains(1);
  const std::vector<policy::PolicyProblem> problems = {{&problem, make_grouping(problem, GroupingKind::op)}};
  const auto has = [](std::span<const char* const> names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
  };
  for (const policy::PolicyEntry& entry : policy::policies()) {
    const auto policy = policy::make_policy(entry.name, ConfigTable("test"), problems, 1);
    EXPECT_EQ(has(closed_form_policies(), entry.name), policy->has_fit()) << entry.name;
    EXPECT_EQ(has(one_round_policies(), entry.name), policy->rounds(0) == 1) << entry.name;
  }
}

TEST(IdleOptions, AreInNoShippedRecipe) {
  serving::register_stage_evaluator();
  for (const RecipeText& text : recipe_texts()) {
    ConfigTable table = ConfigTable::parse_toml(text.toml, text.name);
    apply_values(table, {{"problem", {std::string("configs/problems/two-branches.json"), "test"}}});
    for (const IdleOption& idle : idle_options(make_recipe(table).resolved()))
      ADD_FAILURE() << text.name << ": " << sentence_of(idle);
  }
}

TEST(IdleOptions, OfASweepAreThoseThatAreIdleInAllTrials) {
  const auto idle = [](const std::string& space, const std::string& learner = "learner = 'ppo'\n") {
    std::vector<std::string> keys;
    const Sweep sweep =
        make_sweep(ConfigTable::parse_toml(std::string("problem = \"configs/problems/two-branches.json\"\n") + learner +
                                               "updates = 2\ntrials = 2\n[space]\n" + space,
                                           "s"));
    for (const IdleOption& each : idle_in_all_trials(sweep)) keys.push_back(each.key);
    return keys;
  };
  EXPECT_THAT(idle("ppo.beta = { uniform = [0.5, 2] }"), ElementsAre("ppo.beta"));
  EXPECT_THAT(idle("ppo.beta = { uniform = [0.5, 2] }\nppo.form = ['clip', 'kl']"), IsEmpty());
  EXPECT_THAT(idle("learner = ['post', 'ppo']\n"
                   "post.elite_fraction = { uniform = [0.1, 0.5], when = { learner = 'post' } }",
                   ""),
              ElementsAre("post.elite_fraction"))
      << "its budget is below one window";
  EXPECT_THAT(idle("ppo.beta = { uniform = [0.5, 2], when = { 'ppo.form' = 'clip' } }\nppo.form = ['clip', 'kl']"),
              ElementsAre("ppo.beta"));
}

// A value that breaks the condition, and values of the option that are allowed beside it.
ConfigValue breaking(const OptionCondition& condition, const OptionInfo& option) {
  const auto typed = [&](const std::string& text) {
    return ConfigTable::parse_value(option.type == "text" ? "'" + text + "'" : text, "test");
  };
  if (condition.is_not) return typed(condition.values.front());
  for (const std::string& choice : option.choices)
    if (std::ranges::find(condition.values, choice) == condition.values.end()) return typed(choice);
  return typed(option.type == "bool" ? (condition.values.front() == "true" ? "false" : "true") : "1");
}

std::optional<ConfigValue> other_value(const OptionInfo& option) {
  if (option.type == "bool") return ConfigValue{option.default_value != "true", "test"};
  if (!option.choices.empty())
    return ConfigValue{option.choices.front() == option.default_value ? option.choices.back() : option.choices.front(),
                       "test"};
  if (option.type == "int") return ConfigValue{std::int64_t{std::stoll(option.default_value) + 1}, "test"};
  if (option.type == "number") return ConfigValue{std::stod(option.default_value) * 0.5 + 0.1, "test"};
  return std::nullopt;
}

class IdleOptionsOfMethods : public ::testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  // Everything that a short training computes. Its metrics have the value of some options: the column `option` is left
  // out.
  std::string trained(ConfigTable table, const std::string& option) {
    const std::string run = folder_ / fmt::format("run{}", ++count_);
    apply_values(table, {{"run", {run, "test"}},
                         {"updates", {std::int64_t{3}, "test"}},
                         {"problem", {std::string("configs/problems/two-branches.json"), "test"}}});
    (void)train_recipe(table);
    std::string text;
    std::istringstream lines(read_file(run + "/metrics.csv"));
    std::optional<std::ptrdiff_t> left_out;
    for (std::string line; std::getline(lines, line);) {
      std::vector<std::string> cells = split(line, ',');
      if (!left_out) left_out = std::ranges::find(cells, option) - cells.begin();
      if (*left_out < std::ssize(cells)) cells[static_cast<std::size_t>(*left_out)] = "";
      cells.pop_back();  // the time
      text += join(cells, ",") + '\n';
    }
    return text + read_file(run + "/best.placement.json");
  }

  test::TemporaryFolder folder_;
  int count_ = 0;
};

// For those that only a rule of why_idle() names.
using IdleOptionsOfRules = IdleOptionsOfMethods;
TEST_P(IdleOptionsOfRules, HaveNoEffect) {
  const auto& [base, option] = GetParam();
  const auto result_of = [&](const std::string& toml) { return trained(ConfigTable::parse_toml(toml, "r"), ""); };
  EXPECT_EQ(result_of(base), result_of(base + option));
}
using Pair = std::pair<std::string, std::string>;
INSTANTIATE_TEST_SUITE_P(
    Rules, IdleOptionsOfRules,
    ::testing::Values(Pair{"[post]\nwindow = 20\n", "fit_steps = 3"},
                      Pair{"learner = 'cross-entropy'\n[cross-entropy]\nsamples_per_update = 20\n",
                           "fit_steps = 3\nlearning_rate = 0.5\noptimizer = 'sgd'\nclip_norm = 0.1"},
                      Pair{"learner = 'ppo'\n[ppo]\n", "updates = 2\nreturns = 'best'"},
                      Pair{"policy = 'hsdag'\nlearner = 'ppo'\nhsdag.update_timestep = 1\nhsdag.hidden = 8\n",
                           "ppo.returns = 'step'\nppo.discount = 0.5"},
                      Pair{"learner = 'ppo'\n[ppo]\nreturns = 'late'\n", "discount = 0.5"},
                      Pair{"[post]\n", "elite_fraction = 0.5\nce_window = 'all'"}, Pair{"", "cache = 'none'"},
                      Pair{"grouping = 'chain'\ngroups = 4\n[post]\nwindow = 20\n", "coarse_units = 4"}));

TEST_P(IdleOptionsOfMethods, HaveNoEffect) {
  const auto& [policy, learner] = GetParam();
  ConfigTable base("test");
  base.set("policy", {policy, "test"});
  base.set("learner", {learner, "test"});
  base.set("groups", {std::int64_t{6}, "test"});
  const std::vector<RecipeKey> keys = recipe_keys(policy, learner, "simulator");
  int tried = 0;
  for (const RecipeKey& key : keys)
    for (const OptionCondition& condition : key.option.only_with) {
      const std::string table = key.name.substr(0, key.name.find('.'));
      const auto on = std::ranges::find(keys, table + "." + condition.key, &RecipeKey::name);
      const auto value = other_value(key.option);
      ASSERT_NE(on, keys.end()) << key.name << " depends on " << condition.key;
      if (!value) continue;
      ConfigTable without = base;
      without.set_path(on->name, breaking(condition, on->option));
      ConfigTable with = without;
      with.set_path(key.name, *value);
      std::optional<std::string> first, second;
      try {
        const std::string option = key.name.substr(key.name.find('.') + 1);
        first = trained(without, option);
        second = trained(with, option);
      } catch (const InputError&) {
        continue;  // the two options may not stand beside each other
      }
      EXPECT_EQ(*first, *second) << key.name << " = " << with.to_toml() << " has an effect though " << on->name
                                 << " is other than it needs";
      ++tried;
    }
  EXPECT_GT(tried, 0);
}

INSTANTIATE_TEST_SUITE_P(Recipes, IdleOptionsOfMethods,
                         ::testing::Values(std::pair<std::string, std::string>{"post", "post"},
                                           std::pair<std::string, std::string>{"gdp", "ppo"},
                                           std::pair<std::string, std::string>{"hierarchical", "reinforce"},
                                           std::pair<std::string, std::string>{"hsdag", "reinforce"},
                                           std::pair<std::string, std::string>{"post", "cross-entropy"}),
                         [](const auto& info) {
                           std::string name = info.param.first + "_" + info.param.second;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace emplace::experiment::idle_options_test
