#include "emplace/experiment/train_recipe.hpp"

#include <gmock/gmock.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/not_finite.hpp"
#include "emplace/formats/problem_json.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::train_recipe_test {
namespace {

using ::testing::ElementsAre;

class TrainRecipe : public ::testing::Test {
 protected:
  [[nodiscard]] ConfigTable recipe(const std::string& more) const {
    return ConfigTable::parse_toml("run = \"" + run_ + "\"\n" + more, "r.toml");
  }
  // A recipe of a problem with little to compute.
  [[nodiscard]] ConfigTable small_recipe() const {
    write_file(folder_ / "p.json", formats::write_problem_json(test::two_chains(1)));
    return recipe("problem = \"" + folder_ / "p.json" + "\"\npolicy = \"post\"\nlearner = \"post\"\nupdates = 2\n");
  }
  test::TemporaryFolder folder_;
  const std::string run_ = folder_ / "run";
};

TEST_F(TrainRecipe, NamesItsProblemsAndSaysWhyAPlacementIsNotFeasible) {
  const TrainedRecipe trained = train_recipe(small_recipe());
  EXPECT_EQ(trained.problem_names.size(), trained.best.size());
  EXPECT_THAT(trained.problem_names, ElementsAre(test::two_chains(1).name));
  ASSERT_TRUE(trained.best.front());
  EXPECT_EQ(trained.best.front()->reason.empty(), trained.best.front()->outcome.feasible());
  EXPECT_TRUE(trained.held_out.empty());
  EXPECT_TRUE(trained.held_out_names.empty());
}

TEST_F(TrainRecipe, MovesAnUnfinishedRunAsideIfItIsNotToBeResumed) {
  const auto stop = [updates = 0]() mutable { return ++updates > 1; };
  EXPECT_FALSE(train_recipe(small_recipe(), nullptr, {.stop = stop, .deadline = {}}).finished);
  EXPECT_TRUE(train_recipe(small_recipe(), nullptr, {}, {.resume = false, .wait = false}).finished);
  EXPECT_EQ(read_file(run_ + ".1/status"), "interrupted\n");
  EXPECT_EQ(read_file(run_ + "/status"), "finished\n");
}

TEST_F(TrainRecipe, WritesNoCheckpointSoonerThanAllowedButOneAtTheEnd) {
  for (const auto& [between, expected] : {std::pair{0, true}, {3600, false}}) {
    bool seen = false;
    const auto stop = [&] {
      seen = seen || file_exists(run_ + "/checkpoint.h5");
      return false;
    };
    ConfigTable each = small_recipe();
    each.set("checkpoint_every", ConfigValue(1));
    EXPECT_TRUE(train_recipe(each, nullptr, {.stop = stop, .deadline = {}},
                             {.resume = false, .between_checkpoints = std::chrono::seconds(between)})
                    .finished);
    EXPECT_EQ(seen, expected) << between;
    EXPECT_TRUE(file_exists(run_ + "/checkpoint.h5"));
  }
}

// Rewards of about 1e11 and the largest learning rate: logits overflow after a few updates.
TEST_F(TrainRecipe, ClosesTheLogOfARunThatFails) {
  const ConfigTable diverging = recipe(
      R"(problem = "zoo:nmt?layers=2&sequence=4&training=true@k40x2"
policy = "hierarchical"
learner = "reinforce"
grouping = "chain"
groups = 8
updates = 100
[hierarchical]
hidden = 8
grouper_hidden = 8
[reinforce]
reward = "time"
penalty_cap = 0
time_unit = 1e-12
optimizer = "sgd"
momentum = 0
learning_rate = 1000
clip_norm = 0
)");
  EXPECT_THROW(train_recipe(diverging), NotFinite);
  EXPECT_EQ(read_file(run_ + "/status"), "failed\n");
  const std::string logged = read_file(run_ + "/log.txt");
  log_warning("a message after the run");
  EXPECT_EQ(read_file(run_ + "/log.txt"), logged);
}

}  // namespace
}  // namespace emplace::experiment::train_recipe_test
