#include "experiment/recipe/shipped_recipes.hpp"

#include <gmock/gmock.h>

#include "emplace/base/error.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "experiment/recipe/recipe.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::experiment::shipped_recipes_test {
namespace {

using ::testing::HasSubstr;

TEST(ShippedRecipes, SayWhatTheyAreForHowLongTheyTakeAndHowGoodTheyAre) {
  const std::vector<ShippedRecipe> recipes = shipped_recipes();
  EXPECT_GE(recipes.size(), 18U);
  for (const ShippedRecipe& recipe : recipes) {
    EXPECT_FALSE(recipe.about.purpose.empty()) << recipe.name;
    EXPECT_FALSE(recipe.about.takes.empty()) << recipe.name;
    EXPECT_FALSE(recipe.about.reaches.empty()) << recipe.name;
  }
}

TEST(ShippedRecipes, AreReadByNameAndFilesByPath) {
  EXPECT_EQ(read_recipe("post", "test"), ConfigTable::read_toml("configs/recipes/post.toml"));
  EXPECT_EQ(read_recipe("configs/recipes/post.toml", "test"), read_recipe("post", "test"));
}

TEST(ShippedRecipes, UnknownNamesAreRefusedWithTheNearestOne) {
  try {
    (void)read_recipe("gdp-publishd", "command line");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("command line: unknown recipe 'gdp-publishd'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'gdp-published'"));
  }
}

// The models of gdp-pretrain are its own, and gdp-finetune starts from another run. measured runs a program, and
// serving places the nodes of a cluster: tests/end_to_end has a test of each.
class EveryRecipe : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryRecipe, TrainsOnAModelOfAFewOps) {
  const test::TemporaryFolder folder;
  ConfigTable table = read_recipe(GetParam(), "test");
  apply_values(table, {{"problem", {std::string("configs/problems/two-branches.json"), "test"}},
                       {"run", {folder / "run", "test"}},
                       {"updates", {std::int64_t{2}, "test"}}});
  table.erase("evaluations");
  const TrainedRecipe trained = train_recipe(table);
  EXPECT_TRUE(trained.finished);
  ASSERT_TRUE(trained.best.front().has_value());
  EXPECT_TRUE(trained.best.front()->outcome.feasible());
}

std::vector<std::string> names_but(const std::vector<std::string>& left_out) {
  std::vector<std::string> names;
  for (const RecipeText& text : recipe_texts())
    if (std::ranges::find(left_out, text.name) == left_out.end()) names.emplace_back(text.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(ShippedRecipes, EveryRecipe, ::testing::ValuesIn(names_but({"measured", "serving"})),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace emplace::experiment::shipped_recipes_test
