// What a training fixes when it begins (values that depend on its problems) does not make it another configuration: a
// run or a trial that was killed goes on, whether its recipe leaves these values out or has all defaults written out.
#include <gmock/gmock.h>

#include <filesystem>

#include "experiment/recipe/recipe.hpp"
#include "experiment/run/training.hpp"
#include "experiment/sweep/sweep.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::resumed_trials_test {
namespace {

const std::string problem = "zoo:nmt?layers=2&sequence=2&training=true@k40x2";

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".toml") files.push_back(file.path().string());
  std::ranges::sort(files);
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

// Begins a run of the recipe and ends at once, as a killed one does; then looks for it with another form of the recipe.
void expect_found_again(const ConfigTable& recipe, const ConfigTable& later) {
  {
    const Training training(make_recipe(recipe));
    (void)RunFolder::create(training.recipe().options.run, training.recipe().resolved());
  }
  const std::optional<UnfinishedRun> found = unfinished_run(later);
  ASSERT_TRUE(found);
  const Training again(make_recipe(found->config));
  EXPECT_EQ(difference_in_computing(found->folder.config(), again.recipe().resolved()), "");
}

TEST(ResumedRuns, OfEveryRecipeAreFoundAgainWithAllDefaultsWrittenOutToo) {
  for (const std::string& file : files_in("configs/recipes"))
    for (const bool written_out : {false, true}) {
      SCOPED_TRACE(file);
      const test::TemporaryFolder folder;
      ConfigTable recipe = ConfigTable::read_toml(file);
      apply_overrides(recipe, {"problem=" + problem, "evaluator=simulator", "run=" + (folder / "run")});
      recipe.erase("op_types");
      const ConfigTable later = written_out ? make_recipe(recipe).resolved() : recipe;
      EXPECT_NO_THROW(expect_found_again(recipe, later));
    }
}

TEST(ResumedTrials, OfEverySweepAreFoundAgainFromTheSweepsOwnConfiguration) {
  for (const std::string& file : files_in("configs/sweeps")) {
    SCOPED_TRACE(file);
    const test::TemporaryFolder folder;
    ConfigTable table = ConfigTable::read_toml(file);
    apply_sweep_overrides(table, {"problem=" + problem});
    const Sweep sweep = make_sweep(table);
    const Sweep resumed = make_sweep(ConfigTable::parse_toml(sweep.resolved().to_toml(), "config.toml"));
    const auto strategy = sweep.make_strategy(), again = resumed.make_strategy();
    for (std::size_t i = 0; i < 3; ++i) {
      const std::optional<Work> work = strategy->next(), same = again->next();
      ASSERT_TRUE(work && same == work);
      const std::string run = folder / std::to_string(i);
      EXPECT_NO_THROW(
          expect_found_again(sweep.recipe(strategy->assignment(work->trial), 0, strategy->share(work->rung), run),
                             resumed.recipe(again->assignment(same->trial), 0, again->share(same->rung), run)));
    }
  }
}

TEST(ResumedRuns, WithAValueThatTheUserGivesAndThatIsNotTheRunsAreRefused) {
  const test::TemporaryFolder folder;
  ConfigTable recipe = ConfigTable::read_toml("configs/recipes/hierarchical-published.toml");
  apply_overrides(recipe, {"problem=" + problem, "hierarchical.groups=4", "run=" + (folder / "run")});
  {
    const Training training(make_recipe(recipe));
    (void)RunFolder::create(training.recipe().options.run, training.recipe().resolved());
  }
  apply_overrides(recipe, {"hierarchical.groups=5"});
  EXPECT_THROW(unfinished_run(recipe), InputError);
}

}  // namespace
}  // namespace emplace::experiment::resumed_trials_test
