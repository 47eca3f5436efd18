#include "experiment/recipe/recipe.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>

#include "base/files.hpp"
#include "base/shapes.hpp"
#include "emplace/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::recipe_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Recipe recipe_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  ConfigTable table = ConfigTable::parse_toml(text, "r.toml");
  apply_overrides(table, overrides);
  return make_recipe(table);
}

std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    (void)recipe_of(text, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Recipe, AProblemOnTheCommandLineReplacesTheRecipesGraphAndMachine) {
  const Recipe recipe = recipe_of("graph = \"zoo:nmt\"\nmachine = \"k40x2\"", {"problem=p.json"});
  EXPECT_THAT(recipe.sources(), ElementsAre("p.json"));
}

TEST(Recipe, AGraphOnTheCommandLineKeepsTheRecipesMachine) {
  const Recipe recipe = recipe_of("graph = \"zoo:nmt\"\nmachine = \"k40x2\"", {"graph=model.onnx"});
  EXPECT_THAT(recipe.sources(), ElementsAre("model.onnx@k40x2"));
}

TEST(Recipe, ATimeOnTheCommandLineReplacesTheRecipesOtherBudgets) {
  const std::string recipe = "problem = \"p.json\"\nupdates = 50\nevaluations = 2400\nseconds = 9.0\n";
  const RecipeOptions timed = recipe_of(recipe, {"seconds=60"}).options;
  EXPECT_EQ(timed.seconds, 60);
  EXPECT_EQ(timed.updates, 0);
  EXPECT_EQ(timed.evaluations, 0);
  const RecipeOptions both = recipe_of(recipe, {"seconds=60", "evaluations=10"}).options;
  EXPECT_EQ(both.seconds, 60);
  EXPECT_EQ(both.evaluations, 10);
  const RecipeOptions counted = recipe_of(recipe, {"evaluations=10"}).options;
  EXPECT_EQ(counted.seconds, 9) << "only a time says that the training may take it all";
  EXPECT_EQ(counted.updates, 50);
}

TEST(Recipe, ConstraintsAreKeysAndOverrides) {
  const std::string text = "problem = \"p.json\"\npin = [\"a=gpu:0\"]\nmax_cuts = 0\n";
  const Recipe recipe = recipe_of(text, {"pin=[\"b=gpu:0\", \"c/*=gpu:1\"]", "forbid=[\"cpu:0\"]"});
  EXPECT_THAT(recipe.options.pin, ElementsAre("b=gpu:0", "c/*=gpu:1"));
  EXPECT_THAT(recipe.options.forbid, ElementsAre("cpu:0"));
  EXPECT_EQ(recipe.options.max_cuts, 0) << "none is a limit too";
  const ConfigTable resolved = recipe.resolved();
  EXPECT_EQ(make_recipe(resolved).resolved().to_toml(), resolved.to_toml());
  const ConfigTable without = recipe_of("problem = \"p.json\"").resolved();
  for (const char* key : {"pin", "forbid", "together", "max_cuts"}) {
    EXPECT_FALSE(without.contains(key)) << key;
    EXPECT_FALSE(may_change_on_resume(key)) << key;
  }
  EXPECT_THAT(difference_in_computing(without, resolved), HasSubstr("'forbid' is none there"));
  EXPECT_THAT(refusal(text, {"max_cuts=-1"}), HasSubstr("'max_cuts' must be at least 0"));
}

const std::string with_methods =
    "problem = \"p.json\"\npolicy = \"colocrl\"\nlearner = \"reinforce\"\n"
    "[colocrl]\nhidden = 8\n[reinforce]\nlearning_rate = 0.5\n";

TEST(Recipe, AnotherLearnerOnTheCommandLineReplacesTheRecipesAndItsOptions) {
  const Recipe recipe = recipe_of(with_methods, {"ppo.epochs=2", "learner=ppo"});
  EXPECT_TRUE(recipe.learner_options.contains("epochs"));
  EXPECT_FALSE(recipe.learner_options.contains("learning_rate"));
  EXPECT_TRUE(recipe.policy_options.contains("hidden")) << "of the same policy";
}

TEST(Recipe, TheSameLearnerOnTheCommandLineKeepsTheRecipesOptions) {
  EXPECT_TRUE(recipe_of(with_methods, {"learner=reinforce"}).learner_options.contains("learning_rate"));
}

TEST(Recipe, AnotherPolicyOnTheCommandLineReplacesTheRecipesOptions) {
  const Recipe recipe = recipe_of(with_methods, {"policy=placeto"});
  EXPECT_FALSE(recipe.policy_options.contains("hidden"));
  EXPECT_TRUE(recipe.learner_options.contains("learning_rate"));
}

TEST(Recipe, ASystemsTableStaysWhereOneOfItsTwoMethodsIsReplaced) {
  const std::string post = "problem = \"p.json\"\npolicy = \"post\"\nlearner = \"post\"\n[post]\ncoarse_units = 0\n";
  EXPECT_TRUE(recipe_of(post, {"learner=reinforce"}).policy_options.contains("coarse_units"));
}

TEST(Recipe, AReplacedNameThatIsNoMethodTakesNothingWithIt) {
  const Recipe recipe = recipe_of("problem = \"p.json\"\npolicy = \"seed\"\nseed = 7", {"policy=post"});
  EXPECT_EQ(recipe.options.seed, 7);
}

TEST(Recipe, ALearnerReplacesTheOneThatIsMeantWithoutAName) {
  const std::string by_default = "problem = \"p.json\"\npolicy = \"colocrl\"\n[post]\nwindow = 40\n";
  EXPECT_EQ(refusal(by_default, {"learner=ppo"}), "accepted");
}

TEST(Recipe, OptionsOfAMethodThatIsReplacedAreRefusedOnTheCommandLine) {
  EXPECT_THAT(refusal(with_methods, {"learner=ppo", "reinforce.learning_rate=1"}),
              HasSubstr("options of 'reinforce', but the recipe's learner is 'ppo'"));
}

TEST(Recipe, TwoKindsOfSourceInOneFileAreRefused) {
  EXPECT_THAT(refusal("problem = \"p.json\"\nproblems = [\"q.json\"]"), HasSubstr("alternatives"));
}

TEST(Recipe, PolicyAndLearnerOfOneNameShareTheirTable) {
  const Recipe recipe = recipe_of("problem = \"p.json\"\n[post]\nelite_fraction = 0.2\n");
  const ConfigTable resolved = recipe.resolved();
  EXPECT_EQ(resolved.table("post").number("elite_fraction"), 0.2);
  EXPECT_THAT(refusal("problem = \"p.json\"\n[post]\nelite_fractoin = 0.2\n"),
              ::testing::AllOf(HasSubstr("r.toml:3"), HasSubstr("did you mean 'elite_fraction'")));
}

TEST(Recipe, TheResolvedConfigurationResolvesToItself) {
  const Recipe recipe = recipe_of("graph = \"zoo:nmt?layers=2\"\nmachine = \"k40x2\"\nseconds = 2.5\nrun = \"runs/x\"",
                                  {"post.elite_fraction=0.3", "seed=7", "groups=12"});
  const std::string once = recipe.resolved().to_toml();
  EXPECT_EQ(make_recipe(ConfigTable::parse_toml(once, "config.toml")).resolved().to_toml(), once);
  EXPECT_THAT(once,
              ::testing::AllOf(HasSubstr("seconds = 2.5"), HasSubstr("elite_fraction = 0.3"), HasSubstr("seed = 7"),
                               HasSubstr("groups = 12"), HasSubstr("checkpoint_every = 10")));
  EXPECT_THAT(once, ::testing::Not(HasSubstr("\nupdates = "))) << "a budget that was not given is not written as 0";
}

const std::string several = "problems = [\"p.json\", \"q.json\"]\npolicy = \"placeto\"\nlearner = \"reinforce\"\n";

TEST(Recipe, DrawsNoMoreProblemsThanThereAre) {
  EXPECT_EQ(recipe_of(several, {"problems_per_update=1", "hold_problems=10"}).options.hold_problems, 10);
  EXPECT_EQ(refusal(several, {"problems_per_update=2"}), "accepted");
  EXPECT_THAT(refusal(several, {"problems_per_update=3"}), HasSubstr("is 3, but the training has 2 problems"));
  EXPECT_THAT(refusal("problem = \"p.json\"\nproblems_per_update = 2"),
              HasSubstr("is 2, but the training has 1 problem"));
  EXPECT_THAT(refusal(several, {"problems_per_update=0"}), HasSubstr("'problems_per_update' must be at least 1"));
}

TEST(Recipe, AProblemOnTheCommandLineReplacesWhatTheRecipeSaysOfSeveral) {
  const std::string drawn =
      several + "problems_per_update = 2\nhold_problems = 5\nheld_out = [\"p.json\"]\nheld_out_every = 7\n";
  for (const std::vector<std::string>& one :
       {std::vector<std::string>{"problem=p.json"}, {"graph=m.onnx", "machine=k40x2"}}) {
    const RecipeOptions options = recipe_of(drawn, one).options;
    EXPECT_EQ(options.problems_per_update, 0);
    EXPECT_EQ(options.hold_problems, 1);
    EXPECT_TRUE(options.held_out.empty());
  }
  EXPECT_EQ(recipe_of(drawn, {"problems=[\"p.json\", \"r.json\"]"}).options.problems_per_update, 2);
  EXPECT_EQ(recipe_of("graph = \"m.onnx\"\nmachine = \"k40x2\"\npolicy = \"placeto\"\nlearner = \"reinforce\"\n"
                      "held_out = [\"p.json\"]\n",
                      {"machine=k40x4"})
                .options.held_out.size(),
            1U);
}

TEST(Recipe, HoldsNothingWhereNothingIsDrawn) {
  EXPECT_THAT(refusal(several, {"hold_problems=10"}), HasSubstr("without problems_per_update"));
  EXPECT_THAT(refusal(several, {"problems_per_update=1", "hold_problems=0"}),
              HasSubstr("'hold_problems' must be at least 1"));
}

TEST(Recipe, NamesTheNearestOfTheKeysOfATrainingOnSeveralProblems) {
  EXPECT_THAT(refusal(several + "helt_out = [\"r.json\"]"), HasSubstr("did you mean 'held_out'"));
  EXPECT_THAT(refusal(several + "problem_per_update = 1"), HasSubstr("did you mean 'problems_per_update'"));
  EXPECT_THAT(refusal(several + "held_out = \"r.json\""), HasSubstr("held_out"));
  EXPECT_THAT(refusal(several, {"held_out=[\"r.json\"]", "held_out_every=0"}),
              HasSubstr("'held_out_every' must be at least 1"));
}

TEST(Recipe, APolicyWithParametersOfItsOwnForEachProblemIsTrainedOnAllOfThemAndNoOthers) {
  const std::string post = "problems = [\"p.json\", \"q.json\"]\npolicy = \"post\"\n";
  EXPECT_EQ(refusal(post, {"problems_per_update=2"}), "accepted");
  EXPECT_THAT(refusal(post, {"problems_per_update=1"}),
              HasSubstr("policy 'post' has parameters of its own for each problem: train it on all of them"));
  EXPECT_THAT(refusal(post, {"held_out=[\"r.json\"]"}), HasSubstr("none for one that is held out"));
}

TEST(Recipe, HeldOutProblemsResolveToTheSameFromAnyFolder) {
  const test::TemporaryFolder folder;
  write_file(folder / "r.json", "");
  const std::string here = std::filesystem::relative(folder / "r.json").string();
  const Recipe recipe = recipe_of(several, {"held_out=[\"" + here + "\", \"zoo:nmt@k40x2\"]", "held_out_every=7"});
  const ConfigTable resolved = recipe.resolved();
  EXPECT_NE(here, folder / "r.json");
  EXPECT_THAT(make_recipe(resolved).options.held_out, ElementsAre(folder / "r.json", "zoo:nmt@k40x2"));
  EXPECT_EQ(make_recipe(resolved).resolved().to_toml(), resolved.to_toml());
}

TEST(Recipe, AnEvaluatorHasItsOwnTableWhichAnotherTakesWithIt) {
  const std::string text = "problem = \"p.json\"\nevaluator = \"sleep\"\n[sleep]\nseconds = 0.5";
  EXPECT_EQ(recipe_of(text).resolved().table("sleep").number("seconds"), 0.5);
  EXPECT_FALSE(recipe_of(text, {"evaluator=simulator"}).resolved().contains("sleep"));
  EXPECT_THAT(refusal(text, {"sleep.second=1"}), HasSubstr("did you mean 'seconds'?"));
  EXPECT_THAT(refusal(text, {"evaluator=slep"}), HasSubstr("unknown evaluator 'slep' (did you mean 'sleep'?)"));
  EXPECT_THAT(refusal(text, {"evaluator=command"}), HasSubstr("needs command.run"));
}

TEST(Recipe, ACommandsFolderIsWrittenOut) {
  const ConfigTable resolved =
      recipe_of("problem = \"p.json\"\nevaluator = \"command\"\n[command]\nrun = [\"./measure\"]").resolved();
  EXPECT_EQ(resolved.table("command").text("folder"), std::filesystem::current_path());
  EXPECT_EQ(make_recipe(resolved).resolved().to_toml(), resolved.to_toml());
}

TEST(Recipe, RefusesACacheAndAMeasuringEvaluatorIfLearnerWorkersEvaluate) {
  const std::string text = "problem = \"p.json\"\nworkers = \"simulate+learn\"";
  EXPECT_EQ(refusal(text), "accepted");
  EXPECT_THAT(refusal(text, {"cache=all"}), HasSubstr("goes with workers = 'simulate'"));
  EXPECT_THAT(refusal(text, {"evaluator=command", "command.run=[\"x\"]"}), HasSubstr("an evaluator that measures"));
}

TEST(Recipe, RefusesPriorityLevelsThatTheScheduleDoesNotFollow) {
  const std::string levels = "problem = \"p.json\"\npolicy = \"gdp\"\nlearner = \"ppo\"\n[gdp]\nschedule_levels = 4";
  for (const char* schedule : {"fifo", "in-order"})
    EXPECT_THAT(refusal(levels, {std::string("schedule=") + schedule}),
                HasSubstr("policy 'gdp': schedule_levels draws priorities of ops, which the schedule '" +
                          std::string(schedule) + "' does not follow: wanted schedule = 'priority'"));
  EXPECT_EQ(refusal(levels, {"schedule=priority"}), "accepted");
  EXPECT_EQ(refusal(levels, {"gdp.schedule_levels=0"}), "accepted");
}

TEST(Recipe, DiffersInAWordAtTheEndOfALongName) {
  const auto resolved = [](const std::string& machine) {
    return ConfigTable::parse_toml("problem = \"zoo:nmt?" + std::string(100, 'x') + "@" + machine + "\"\n", "test");
  };
  EXPECT_EQ(difference_in_computing(resolved("k40x2"), resolved("k40x2")), "");
  EXPECT_EQ(
      difference_in_computing(resolved("k40x2"), resolved("k40x4")),
      "'problem' is '..." + std::string(25, 'x') + "@k40x2\"' there, '..." + std::string(25, 'x') + "@k40x4\"' here");
  const auto seed = [](int value) { return ConfigTable::parse_toml(fmt::format("seed = {}\n", value), "test"); };
  EXPECT_EQ(difference_in_computing(seed(1), seed(2)), "'seed' is '1' there, '2' here");
  EXPECT_EQ(difference_in_computing(ConfigTable(), seed(2)), "'seed' is none there, '2' here");
}

TEST(Recipe, BudgetsOfZeroAreRefused) {
  EXPECT_THAT(refusal("problem = \"p.json\"\nupdates = 0"), HasSubstr("'updates' must be at least 1"));
  EXPECT_THAT(refusal("problem = \"p.json\"\nseconds = 0.0"), HasSubstr("'seconds' must be above 0"));
}

TEST(Recipe, ValuesOutsideTheirChoicesNameTheNearest) {
  EXPECT_THAT(refusal("problem = \"p.json\"\nschedule = \"inorder\""), HasSubstr("did you mean 'in-order'"));
  EXPECT_THAT(refusal("problem = \"p.json\"\ncompare = [\"singel\"]"), HasSubstr("did you mean 'single'"));
}

// The words between backquotes in the first sentence after `begin` in the file, up to `end`.
std::vector<std::string> quoted_words(const std::string& file, const std::string& begin, const std::string& end) {
  const std::string page = read_file(file);
  const std::size_t first = page.find(begin);
  if (first == std::string::npos) return {};
  std::vector<std::string> words;
  for (std::size_t at = first + begin.size(); (at = page.find('`', at)) < page.find(end, first);) {
    const std::size_t close = page.find('`', at + 1);
    words.push_back(page.substr(at + 1, close - at - 1));
    at = close + 1;
  }
  return words;
}

TEST(Recipe, TheManualListsTheKeysThatMayChangeOnResume) {
  EXPECT_EQ(quoted_words("docs/formats.md", "**`config.toml` on resume.**", "may be changed"),
            keys_that_may_change_on_resume());
}

TEST(Shapes, AreWrittenWithTheInputsNameFirst) {
  EXPECT_THAT(parse_shapes({"input=1x3x224x224", "a=b=7"}, "").at("a=b"), ElementsAre(7));
  EXPECT_THAT(parse_shapes({"input=1x3x224x224"}, "").at("input"), ElementsAre(1, 3, 224, 224));
  EXPECT_THROW(parse_shapes({"1x3"}, "--shape"), InputError);
  EXPECT_THROW(parse_shapes({"x=1x0"}, "--shape"), InputError);
  EXPECT_THROW(parse_shapes({"x=1xx2"}, "--shape"), InputError);
  EXPECT_THROW(parse_shapes({"x=1", "x=2"}, "--shape"), InputError);
}

}  // namespace
}  // namespace emplace::experiment::recipe_test
