// What the ablations in the published tables leave out.
#include <gtest/gtest.h>

#include "emplace/policy/policy.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "experiment/tables/published_table.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::experiment::ablation_columns_test {
namespace {

// The policy of a column of the Hierarchical Planner's table, for a problem of 8 units, and a placement of its.
struct HierarchicalColumn {
  explicit HierarchicalColumn(const std::string& name)
      : problem(test::two_chains(1)), list{{&problem, make_grouping(problem, GroupingKind::op)}} {
    const PublishedTable table = load_table("hierarchical");
    const TableMethod* const method = table.method(name);
    ConfigTable recipe = read_recipe(method->recipe, "test");
    std::vector<std::pair<std::string, ConfigValue>> values = {{"problem", {std::string("p.json"), "test"}}};
    for (const std::string& key : method->options.keys()) values.emplace_back(key, *method->options.find(key));
    values.emplace_back("hierarchical.hidden", ConfigValue{std::int64_t{4}, "test"});
    apply_values(recipe, std::move(values));
    policy = policy::make_policy("hierarchical", make_recipe(recipe).policy_options, list, 1);
    Stream stream({.seed = 5, .purpose = Purpose::sample_placement, .update = 1, .index = 0});
    const policy::SampleSlot slot{&stream, {&rollout, 1}};
    policy->sample({&slot, 1});
    policy->forward({&rollout, 1}, log);
  }
  [[nodiscard]] std::size_t grouper_parameters() const {
    std::size_t count = 0;
    for (const auto& info : policy->layout())
      if (info.name == "types" || info.name.starts_with("grouper")) count += info.size();
    return count;
  }

  Problem problem;
  std::vector<policy::PolicyProblem> list;
  std::unique_ptr<policy::Policy> policy;
  policy::Rollout rollout;
  policy::LogProbabilities log;
};

TEST(AblationColumns, OfTheHierarchicalPlannerHaveNoGrouperAndLearnNoGroups) {
  for (const std::string family : {"hierarchical:", "hierarchical:tuned-"}) {
    // Without grouping: one decision for each of the 8 units, its device.
    const HierarchicalColumn none(family + "no-grouping");
    EXPECT_EQ(none.grouper_parameters(), 0U) << family;
    EXPECT_EQ(none.rollout.actions.size(), 8U) << family;
    EXPECT_EQ(none.log.value.size(), 8U) << family;
    // Random groups are stored with the sample, but have no log-probability: 8 groups' devices alone.
    const HierarchicalColumn random(family + "random-grouping");
    EXPECT_EQ(random.grouper_parameters(), 0U) << family;
    EXPECT_EQ(random.rollout.actions.size(), 8U + 8U) << family;
    EXPECT_EQ(random.log.value.size(), 8U) << family;
  }
  for (const char* whole : {"hierarchical", "hierarchical:tuned"}) {
    const HierarchicalColumn column(whole);
    EXPECT_GT(column.grouper_parameters(), 0U) << whole;
    EXPECT_EQ(column.log.value.size(), 8U + 8U) << whole;
  }
}

}  // namespace
}  // namespace emplace::experiment::ablation_columns_test
