#include "experiment/sweep/sweep.hpp"

#include <gmock/gmock.h>

#include "base/files.hpp"
#include "experiment/recipe/recipe.hpp"
#include "tests/experiment/sweep/sweeps.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::sweep_test {
namespace {

using test::refusal;
using test::sweep_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

const std::string head = "problem = \"p.json\"\nevaluations = 100\ntrials = 4\n";
const std::string two_learners = head + R"(
policy = "post"
[reinforce]
samples_per_update = 8
[ppo]
epochs = 2
[post]
coarse_units = 0
elite_fraction = 0.2
[space]
learner = ["reinforce", "ppo", "post"]
"ppo.learning_rate" = { log_uniform = [1e-5, 1e-2], when = { learner = "ppo" } }
)";

Recipe trial(const Sweep& sweep, const std::vector<double>& point) {
  return make_recipe(sweep.recipe(sweep.space.decode(point)));
}

TEST(Sweep, GivesATrialTheOptionsOfItsOwnMethodsAlone) {
  const Sweep sweep = sweep_of(two_learners);
  const Recipe reinforce = trial(sweep, {0, 0});
  EXPECT_EQ(reinforce.options.learner, "reinforce");
  EXPECT_THAT(reinforce.learner_options.keys(), ElementsAre("samples_per_update"));
  EXPECT_THAT(reinforce.policy_options.keys(), ElementsAre("coarse_units"))
      << "elite_fraction in the same table is the learner post's";
  const Recipe ppo = trial(sweep, {0.5, 0});
  EXPECT_THAT(ppo.learner_options.keys(), ElementsAre("epochs", "learning_rate"));
  EXPECT_EQ(ppo.learner_options.number("learning_rate"), 1e-5);
  EXPECT_THAT(trial(sweep, {0.9, 0}).learner_options.keys(), ElementsAre("elite_fraction"));
}

TEST(Sweep, ScalesBudgetsByTheShareAndKeepsAtLeastOneOfEach) {
  const Sweep sweep = sweep_of(
      "problem = \"p.json\"\nupdates = 10\nevaluations = 1000\nseconds = 8\ntrials = 1\n"
      "[space]\ngroups = [4, 8]");
  const Assignment assignment = sweep.space.decode(std::vector<double>{0});
  const Recipe recipe = make_recipe(sweep.recipe(assignment, 7, 0.25, "runs/s/3"));
  EXPECT_EQ(recipe.options.updates, 3);  // 2.5
  EXPECT_EQ(recipe.options.evaluations, 250);
  EXPECT_EQ(recipe.options.seconds, 2);
  EXPECT_EQ(recipe.options.seed, 7);
  EXPECT_EQ(recipe.options.run, "runs/s/3");
  EXPECT_EQ(make_recipe(sweep.recipe(assignment, 7, 1e-6, "r")).options.updates, 1);
}

TEST(Sweep, TakesSeedsAsANumberOrAsAList) {
  const std::string space = "[space]\ngroups = [4, 8]";
  EXPECT_THAT(sweep_of(head + "seed = 5\n" + space).seeds, ElementsAre(5));
  EXPECT_THAT(sweep_of(head + "seed = 5\nseeds = 3\n" + space).seeds, ElementsAre(5, 6, 7));
  EXPECT_THAT(sweep_of(head + "seeds = [9, 2]\n" + space).seeds, ElementsAre(9, 2));
  EXPECT_THAT(refusal(head + "seeds = []\n" + space), HasSubstr("'seeds' needs at least one"));
  EXPECT_THAT(refusal(head + "seeds = 0\n" + space), HasSubstr("'seeds' must be a list, or their number from 1"));
  EXPECT_EQ(sweep_of(head + "seeds = 1000\n" + space).seeds.size(), 1000U);
  EXPECT_THAT(refusal(head + "seeds = 1001\n" + space), HasSubstr("1000, found 1001"));
  EXPECT_THAT(refusal(head + "seeds = [1, 1]\n" + space), HasSubstr("seed 1 is given twice"));
  EXPECT_THAT(refusal(head + "seeds = [-1]\n" + space), HasSubstr("a seed must be at least 0"));
}

TEST(Sweep, StartsFromARecipesFileWithItsOwnKeysOverIt) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "r.toml";
  write_file(file,
             "graph = \"zoo:nmt\"\nmachine = \"k40x2\"\nlearner = \"ppo\"\nrun = \"runs/other\"\nupdates = 5\n"
             "[ppo]\nepochs = 3\nclip_ratio = 0.3\n");
  const Sweep sweep = sweep_of("recipe = \"" + file +
                               "\"\nproblem = \"p.json\"\ntrials = 2\n[ppo]\nepochs = 4\n"
                               "[space]\n\"ppo.clip_ratio\" = { uniform = [0.1, 0.2] }");
  const Recipe recipe = trial(sweep, {0});
  EXPECT_THAT(recipe.sources(), ElementsAre("p.json")) << "a problem replaces the recipe's graph and machine";
  EXPECT_EQ(recipe.learner_options.number("epochs"), 4);
  EXPECT_EQ(recipe.learner_options.number("clip_ratio"), 0.1);
  EXPECT_EQ(recipe.options.updates, 5);
  EXPECT_EQ(recipe.options.run, "") << "the recipe's run folder is not the sweep's";
}

TEST(Sweep, FindsItsRecipeFromTheFolderOfItsOwnFile) {
  const test::TemporaryFolder folder;
  make_folder(folder / "recipes");
  make_folder(folder / "sweeps");
  write_file(folder / "recipes/r.toml", "problem = \"p.json\"\nlearner = \"ppo\"\nupdates = 5\n");
  write_file(folder / "sweeps/s.toml",
             "recipe = \"../recipes/r.toml\"\ntrials = 2\n[space]\n\"ppo.clip_ratio\" = { uniform = [0.1, 0.2] }");
  EXPECT_EQ(trial(make_sweep(ConfigTable::read_toml(folder / "sweeps/s.toml")), {0}).options.updates, 5);
}

TEST(Sweep, GivesAnInactiveParameterNoValueThatTheRecipesFileHadForIt) {
  const test::TemporaryFolder folder;
  write_file(folder / "r.toml", "problem = \"p.json\"\nlearner = \"ppo\"\n[ppo]\nclip_ratio = 0.3\nepochs = 3\n");
  const Sweep sweep =
      sweep_of("recipe = \"" + (folder / "r.toml") + "\"\ntrials = 2\n[space]\nppo.form = [\"clip\", \"kl\"]\n" +
               "ppo.clip_ratio = { uniform = [0.1, 0.2], when.ppo.form = \"clip\" }\n");
  EXPECT_THAT(trial(sweep, {0, 0}).learner_options.keys(), UnorderedElementsAre("epochs", "form", "clip_ratio"));
  EXPECT_THAT(trial(sweep, {1, 0}).learner_options.keys(), UnorderedElementsAre("epochs", "form"));
  EXPECT_EQ(trial(make_sweep(sweep.resolved()), {1, 0}).resolved().to_toml(),
            trial(sweep, {1, 0}).resolved().to_toml());
}

TEST(Sweep, TakesARecipeWhoseLearnerIsNoneOfItsChoices) {
  const test::TemporaryFolder folder;
  write_file(folder / "r.toml", "problem = \"p.json\"\nlearner = \"ppo\"\n[ppo]\nclip_ratio = 0.3\n");
  const Sweep sweep =
      sweep_of("recipe = \"" + (folder / "r.toml") + "\"\ntrials = 2\n[reinforce]\nsamples_per_update = 4\n" +
               "[space]\nlearner = [\"post\", \"reinforce\"]\n");
  EXPECT_THAT(trial(sweep, {0}).learner_options.keys(), ElementsAre());
  EXPECT_THAT(trial(sweep, {1}).learner_options.keys(), ElementsAre("samples_per_update"));
}

TEST(Sweep, ResolvesToItselfWithDefaultsOfEveryMethodThatATrialMayHave) {
  const Sweep sweep = sweep_of(two_learners + "groups = { integers = [4, 64], log = true }\n");
  const ConfigTable resolved = sweep.resolved();
  const Sweep again = make_sweep(resolved);
  EXPECT_EQ(again.resolved().to_toml(), resolved.to_toml());
  EXPECT_TRUE(resolved.table("ppo").contains("clip_ratio"));
  EXPECT_TRUE(resolved.table("reinforce").contains("baseline"));
  EXPECT_FALSE(resolved.table("ppo").contains("learning_rate")) << "it varies";
  EXPECT_FALSE(resolved.contains("learner"));
  // Also from text, as in a folder's config.toml.
  const std::string text = resolved.to_toml();
  EXPECT_EQ(make_sweep(ConfigTable::parse_toml(text, "config.toml")).resolved().to_toml(), text);
  for (const double learner : {0.0, 0.5, 0.9})
    EXPECT_EQ(trial(again, {learner, 0.3, 0.6}).resolved().to_toml(),
              trial(sweep, {learner, 0.3, 0.6}).resolved().to_toml());
}

TEST(Sweep, TakesOverridesOfItsSpaceItsStrategyAndItsRecipe) {
  const std::string text =
      head + "strategy = \"grid\"\n[grid]\npoints = 2\n[space.post]\nelite_fraction = { uniform = [0.1, 0.2] }\n";
  const Sweep sweep = sweep_of(text, {"space.post.elite_fraction=[0.3]", "updates=9", "space.groups=[1, 2]"});
  EXPECT_EQ(sweep.space.size(), 2U);
  EXPECT_EQ(sweep.space.parameters()[0].choices.size(), 1U);
  EXPECT_EQ(trial(sweep, {0, 0}).options.updates, 9);
  EXPECT_EQ(refusal(text, {"strategy=random"}), "accepted") << "[grid] goes with the strategy";
  EXPECT_THAT(refusal(text, {"post.elite_fraction=0.1"}),
              HasSubstr("'post.elite_fraction' varies in [space], and is given here too"));
}

TEST(Sweep, RefusesAValueThatNoRecipeMayHaveWhereverItStandsInItsRange) {
  const std::string ppo = head + "learner = \"ppo\"\n[space]\n";
  EXPECT_THAT(refusal(ppo + "\"ppo.clip_ratio\" = { uniform = [0.5, 1.5] }"),
              HasSubstr("s.toml:6: 'clip_ratio' must be above 0 and at most 1, found 1.5"));
  EXPECT_THAT(refusal(ppo + "\"ppo.form\" = [\"clip\", \"cut\"]"),
              HasSubstr("'form' must be one of clip, kl, found 'cut'"));
  EXPECT_THAT(refusal(ppo + "\"ppo.epochs\" = { uniform = [1, 3] }"), HasSubstr("'epochs' must be a whole number"))
      << "which its ends are";
  EXPECT_THAT(refusal(ppo + "\"ppo.epoch\" = [1]"), HasSubstr("unknown key 'epoch' (did you mean 'epochs'?)"));
  EXPECT_THAT(refusal(ppo + "policy = [\"post\", \"gpd\"]"), HasSubstr("unknown policy 'gpd' (did you mean 'gdp'?)"));
}

TEST(Sweep, AsksForTheConditionOfAMethodsOption) {
  const std::string text = head + "[space]\nlearner = [\"ppo\", \"reinforce\"]\n\"ppo.epochs\" = [1, 2]\n";
  EXPECT_EQ(refusal(text),
            "s.toml:6: 'ppo.epochs' has no meaning if learner is 'reinforce': give it when = { learner = \"ppo\" }");
  // The policy post is there, and has a table of the same name; the option is the learner's.
  EXPECT_THAT(
      refusal(head + "policy = \"post\"\n[space]\nlearner = [\"post\", \"ppo\"]\npost.elite_fraction = [0.1, 0.2]\n"),
      HasSubstr("'post.elite_fraction' has no meaning if learner is 'ppo': give it when = { learner = \"post\" }"));
  EXPECT_THAT(refusal(head + "[space]\n\"ppo.epochs\" = [1, 2]\n"),
              HasSubstr("'ppo.epochs' has no meaning if learner is 'post'"));
}

TEST(Sweep, RefusesParametersThatChangeWhatIsMeasured) {
  EXPECT_THAT(refusal("trials = 1\n[space]\nproblem = [\"a.json\", \"b.json\"]"),
              HasSubstr("changes what is measured"));
  EXPECT_THAT(refusal(head + "[space]\nschedule = [\"fifo\", \"priority\"]"), HasSubstr("changes what is measured"));
  EXPECT_THAT(refusal(head + "[space]\nseed = [1, 2]"), HasSubstr("`seeds` gives every trial several"));
  EXPECT_THAT(refusal(head + "[space]\nrun = [\"a\", \"b\"]"), HasSubstr("'run' cannot vary"));
}

TEST(Sweep, WantsABudgetToTakeSharesOfWhereTrialsAreStoppedEarly) {
  const std::string halving = "problem = \"p.json\"\ntrials = 9\nstrategy = \"halving\"\n";
  EXPECT_THAT(refusal(halving + "[space]\ngroups = [4, 8]"),
              HasSubstr("strategy 'halving' stops trials early: it needs a budget"));
  EXPECT_EQ(refusal(halving + "updates = 9\n[space]\ngroups = [4, 8]"), "accepted");
  EXPECT_THAT(
      refusal(halving + "updates = 8\n[space]\ngroups = [4, 8]"),
      HasSubstr("s.toml:4: the first rung of strategy 'halving' has 0.111 of 8 updates, which is less than one"));
  EXPECT_THAT(refusal(halving + "updates = 9\n[space]\nevaluations = [10, 100]"),
              HasSubstr("'evaluations' cannot vary"));
}

TEST(Sweep, LetsAResumedSweepHaveOnlyWhatChangesNoTrial) {
  const auto& random = find_entry(sweep_strategies(), "random", "strategy");
  const auto& halving = find_entry(sweep_strategies(), "halving", "strategy");
  EXPECT_TRUE(sweep_may_change_on_resume("trials", random));
  EXPECT_FALSE(sweep_may_change_on_resume("trials", halving)) << "who goes on depends on how many there are";
  EXPECT_TRUE(sweep_may_change_on_resume("ranks_per_trial", halving));
  EXPECT_FALSE(sweep_may_change_on_resume("evaluations", random));
}

TEST(Sweep, RefusesKeysThatItDoesNotKnow) {
  const std::string space = "[space]\ngroups = [4, 8]\n";
  EXPECT_THAT(refusal(head + "stratgy = \"grid\"\n" + space),
              HasSubstr("unknown key 'stratgy' (did you mean 'strategy'?)"));
  EXPECT_THAT(refusal(head + "strategy = \"rando\"\n" + space),
              HasSubstr("unknown strategy 'rando' (did you mean 'random'?)"));
  EXPECT_THAT(refusal(head + space + "[grid]\npoints = 3\n"),
              HasSubstr("[grid] has options of a strategy that this sweep does not use"));
  EXPECT_THAT(refusal(head + "strategy = \"grid\"\n" + space + "[grid]\npoint = 3\n"),
              HasSubstr("unknown key 'point' (did you mean 'points'?)"));
  EXPECT_THAT(refusal(head), HasSubstr("a sweep needs [space]"));
  EXPECT_THAT(refusal("problem = \"p.json\"\n" + space), HasSubstr("strategy 'random' needs `trials`"));
  EXPECT_THAT(refusal("trials = 3\n" + space), HasSubstr("nothing to place"));
}

}  // namespace
}  // namespace emplace::experiment::sweep_test
