#include "experiment/sweep/space.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "experiment/recipe/recipe.hpp"
#include "tests/experiment/sweep/sweeps.hpp"

namespace emplace::experiment::space_test {
namespace {

using test::mixed_space;
using test::space_refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Space of(const std::string& text) { return test::space_of(text); }
Space mixed() { return Space(ConfigTable::parse_toml(mixed_space, "s.toml").table("space")); }

TEST(Space, TakesKeysOfTablesAsTheSameAsDottedOnes) {
  const Space dotted = of("\"ppo.epochs\" = [1, 2]");
  const Space tables = of("ppo.epochs = [1, 2]");
  const Space inner = of("[ppo]\nepochs = { choices = [1, 2] }");
  EXPECT_EQ(dotted.parameters()[0].key, "ppo.epochs");
  EXPECT_EQ(dotted.resolved().to_toml(), tables.resolved().to_toml());
  EXPECT_EQ(dotted.resolved().to_toml(), inner.resolved().to_toml());
}

TEST(Space, GivesEachValueOfAFiniteParameterAnEqualShareOfTheUnitInterval) {
  const Space space = of("groups = { integers = [2, 11], step = 3 }\npolicy = [\"post\", \"gdp\"]");
  const Parameter& groups = space.parameters()[0];
  // 2, 5, 8, 11: a quarter each.
  EXPECT_EQ(groups.count(), 4U);
  EXPECT_EQ(groups.decode(0), 2);
  EXPECT_EQ(groups.decode(0.2499), 2);
  EXPECT_EQ(groups.decode(0.25), 5);
  EXPECT_EQ(groups.decode(1), 11);
  EXPECT_EQ(groups.encode(5), 0.375);  // the middle of [1/4, 1/2]
  const Parameter& policy = space.parameters()[1];
  EXPECT_EQ(policy.text(policy.decode(0.49)), "post");
  EXPECT_EQ(policy.text(policy.decode(0.5)), "gdp");
}

TEST(Space, TakesTheLogarithmsOfALogUniformRangeAsUniform) {
  const Space space = of("\"ppo.learning_rate\" = { log_uniform = [1e-5, 1e-1] }");
  const Parameter& rate = space.parameters()[0];
  EXPECT_EQ(rate.decode(0), 1e-5);
  EXPECT_EQ(rate.decode(0.25), 1e-4);
  EXPECT_EQ(rate.decode(0.5), 1e-3);
  EXPECT_EQ(rate.decode(1), 1e-1);
  EXPECT_NEAR(rate.encode(1e-2), 0.75, 1e-12);
}

TEST(Space, RoundsContinuousValuesToSixDigitsWithinTheirRange) {
  const Space space = of("\"ppo.clip_ratio\" = { uniform = [0.1, 0.30000004] }");
  const Parameter& clip = space.parameters()[0];
  EXPECT_EQ(clip.text(clip.decode(1.0 / 3)), "0.166667");
  EXPECT_EQ(clip.decode(1), 0.3);  // 0.30000004 has more digits, and 0.3 is within
}

TEST(Space, GivesWholeNumbersOnALogarithmicScaleTheirShareOfIt) {
  const Space space = of("groups = { integers = [1, 4], log = true }");
  const Parameter& groups = space.parameters()[0];
  // ln 0.5 to ln 4.5 is 2.197; 1 has ln(1.5 / 0.5) = 1.099, which is half, 2 has ln(2.5 / 1.5) = 0.511.
  EXPECT_EQ(groups.decode(0), 1);
  EXPECT_EQ(groups.decode(0.499), 1);
  EXPECT_EQ(groups.decode(0.501), 2);
  EXPECT_EQ(groups.decode(0.732), 2);  // 0.5 + 0.511 / 2.197 = 0.7325
  EXPECT_EQ(groups.decode(0.733), 3);
  EXPECT_EQ(groups.decode(1), 4);
}

RC_GTEST_PROP(Space, DecodesWhatItEncodes, ()) {
  const Space space = mixed();
  std::vector<double> point;
  for (std::size_t p = 0; p < space.size(); ++p) point.push_back(*rc::gen::inRange(0, 1001) / 1000.0);
  const Assignment assignment = space.decode(point);
  std::vector<double> again;
  for (const auto& coordinate : space.encode(assignment)) {
    again.push_back(coordinate.value_or(0.5));
    RC_ASSERT(again.back() >= 0);
    RC_ASSERT(again.back() <= 1);
  }
  const Assignment back = space.decode(again);
  for (std::size_t p = 0; p < space.size(); ++p) {
    RC_ASSERT(back.values[p].has_value() == assignment.values[p].has_value());
    if (!back.values[p]) continue;
    const double rounding = space.parameters()[p].continuous() ? 2e-5 * std::abs(*back.values[p]) : 0;
    RC_ASSERT(std::abs(*back.values[p] - *assignment.values[p]) <= rounding);
  }
}

TEST(Space, LeavesInactiveParametersOutOfTheRecipe) {
  const Space space = mixed();
  const auto keys = [&](std::vector<double> point) {
    std::vector<std::string> names;
    for (const auto& [key, value] : space.overrides(space.decode(point))) names.push_back(key);
    return names;
  };
  // Coordinates: learner, rate, form, clip, groups, checkpoint_every.
  EXPECT_THAT(keys({0, 0, 0, 0, 0, 0}), ElementsAre("learner", "groups", "checkpoint_every"));
  EXPECT_THAT(keys({1, 0, 0, 0, 0, 0}),
              ElementsAre("learner", "ppo.learning_rate", "ppo.form", "ppo.clip_ratio", "groups", "checkpoint_every"));
  // With the form "kl" there is no clip_ratio; nor if the form itself is inactive.
  EXPECT_THAT(keys({1, 0, 1, 0, 0, 0}),
              ElementsAre("learner", "ppo.learning_rate", "ppo.form", "groups", "checkpoint_every"));
}

TEST(Space, OrdersParametersBehindWhatTheyDependOn) {
  const Space space =
      of("\"ppo.clip_ratio\" = { uniform = [0, 1], when.ppo.form = \"clip\" }\n"
         "\"ppo.form\" = { choices = [\"clip\", \"kl\"], when.learner = [\"ppo\"] }\n"
         "learner = [\"ppo\", \"post\"]");
  EXPECT_THAT(space.order(), ElementsAre(2, 1, 0));
  EXPECT_EQ(space.parameters()[0].key, "ppo.clip_ratio") << "columns stay as in the file";
}

TEST(Space, LooksAtEveryChoiceAndEveryEndInACornerWhereItIsActive) {
  const Space space = mixed();
  const std::vector<Assignment> corners = space.corners();
  for (std::size_t p = 0; p < space.size(); ++p)
    for (const double value : {space.parameters()[p].low, space.parameters()[p].high})
      EXPECT_TRUE(std::ranges::any_of(corners, [&](const Assignment& a) { return a.values[p] == value; }))
          << space.parameters()[p].key << " = " << value;
}

TEST(Space, ResolvesToItself) {
  const std::string once = mixed().resolved().to_toml();
  EXPECT_EQ(of(once).resolved().to_toml(), once);
  EXPECT_THAT(once, HasSubstr("[\"ppo.clip_ratio\"]\nuniform = [0.1, 0.4]\nwhen = { \"ppo.form\" = [\"clip\"] }\n"));
}

TEST(Space, NamesTheNearestKeyOfARecipe) {
  EXPECT_EQ(space_refusal("polcy = [\"post\"]"),
            "s.toml:1: 'polcy' in [space] is not a key of a recipe (did you mean 'policy'?)");
  EXPECT_THAT(space_refusal("\"reinforc.discount\" = [1]"), HasSubstr("(did you mean 'reinforce'?)"));
  EXPECT_THAT(space_refusal("ppo = [1]"), HasSubstr("'ppo' in [space] is not a key of a recipe"));
}

TEST(Space, RefusesFormsThatMeanNothing) {
  EXPECT_THAT(space_refusal(""), HasSubstr("[space] names no key that varies"));
  EXPECT_THAT(space_refusal("groups = 5"),
              HasSubstr("'groups' needs a list of choices, or a table with one of choices"));
  EXPECT_THAT(space_refusal("groups = []"), HasSubstr("'groups' needs a list of choices"));
  EXPECT_THAT(space_refusal("groups = [5, 6, 5]"), HasSubstr("'groups' has the choice 5"));
  EXPECT_THAT(space_refusal("groups = { integres = [1, 2] }"),
              HasSubstr("unknown key 'integres' of 'groups' (did you mean 'integers'?)"));
  EXPECT_THAT(space_refusal("groups = { when = { policy = 1 } }"), HasSubstr("'groups' has no values"));
  EXPECT_THAT(space_refusal("groups = { uniform = [0, 1], choices = [1] }"),
              HasSubstr("'groups' has 2 forms: choices and uniform; wanted one"));
  EXPECT_THAT(space_refusal("groups = { integers = [1, 2, 3] }"), HasSubstr("'integers' needs two ends"));
  EXPECT_THAT(space_refusal("groups = { integers = [4, 1] }"), HasSubstr("needs its lower end first, found [4, 1]"));
  EXPECT_THAT(space_refusal("groups = { integers = [1, 2.5] }"), HasSubstr("must be a whole number"));
  EXPECT_THAT(space_refusal("groups = { integers = [1, 4], step = 0 }"), HasSubstr("'step' must be at least 1"));
  EXPECT_THAT(space_refusal("groups = { integers = [0, 4], log = true }"),
              HasSubstr("'log' needs integers of at least 1"));
  EXPECT_THAT(space_refusal("groups = { integers = [1, 4], log = true, step = 2 }"), HasSubstr("exclude each other"));
  EXPECT_THAT(space_refusal("group_share = { uniform = [0, 1], step = 2 }"),
              HasSubstr("'step' of 'group_share' can be given only with 'integers'"));
  EXPECT_THAT(space_refusal("group_share = { log_uniform = [0, 1] }"), HasSubstr("needs ends above zero, found 0"));
  EXPECT_THAT(space_refusal("group_share = { uniform = [0, inf] }"), HasSubstr("must be finite"));
  EXPECT_THAT(space_refusal("\"ppo.epochs\" = [1]\n[ppo]\nepochs = [2]"), HasSubstr("'ppo.epochs' is given twice"));
}

TEST(Space, RefusesConditionsThatNeverHold) {
  const std::string policy = "policy = [\"post\", \"gdp\"]\n";
  EXPECT_THAT(space_refusal(policy + "groups = { integers = [1, 4], when = { polcy = \"gdp\" } }"),
              HasSubstr("'groups' depends on 'polcy', which is not in [space] (did you mean 'policy'?)"));
  EXPECT_THAT(space_refusal(policy + "groups = { integers = [1, 4], when = { policy = \"placeto\" } }"),
              HasSubstr("'groups' depends on policy = \"placeto\", which is not one of its choices (post, gdp)"));
  EXPECT_THAT(space_refusal(policy + "groups = { integers = [1, 4], when = { policy = [] } }"),
              HasSubstr("can never be active"));
  EXPECT_THAT(
      space_refusal("group_share = { uniform = [0, 1] }\ngroups = { integers = [1, 4], when = { group_share = 0.5 } }"),
      HasSubstr("a continuous range never has just that value"));
  EXPECT_THAT(space_refusal(
                  "threads = { integers = [1, 9], step = 2 }\ngroups = { integers = [1, 4], when = { threads = 4 } }"),
              HasSubstr("'groups' depends on threads = 4, which it never is"));
  EXPECT_THAT(space_refusal("groups = { integers = [1, 4], when = { threads = 1 } }\n"
                            "threads = { integers = [1, 4], when = { groups = 1 } }"),
              HasSubstr("the conditions of 'groups', 'threads' form a cycle"));
  // groups requires gdp and threads, and threads is active for post only.
  EXPECT_THAT(space_refusal(policy + "threads = { integers = [1, 4], when = { policy = \"post\" } }\n"
                                     "groups = { integers = [1, 4], when = { policy = \"gdp\", threads = 1 } }"),
              HasSubstr("'groups' can never be active: its conditions need different values of 'policy'"));
}

}  // namespace
}  // namespace emplace::experiment::space_test
