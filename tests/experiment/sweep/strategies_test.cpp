// Properties of single strategies, checked against their papers and by hand.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "experiment/sweep/points.hpp"
#include "tests/experiment/sweep/sweeps.hpp"
#include "tests/experiment/sweep/workers.hpp"

namespace emplace::experiment::strategies_test {
namespace {

using test::Carried;
using test::carry_out;
using test::space_of;
using ::testing::ElementsAre;

std::unique_ptr<SweepStrategy> made(const std::string& name, const Space& space, std::size_t trials,
                                    const std::string& options = "", std::uint64_t seed = 1) {
  return find_entry(sweep_strategies(), name, "strategy")
      .make(ConfigTable::parse_toml(options, "options"), {.space = &space, .trials = trials, .seed = seed});
}

std::vector<std::size_t> rung_sizes(const Carried& carried) {
  std::vector<std::size_t> sizes;
  for (const Work& work : carried.works) {
    if (work.rung >= sizes.size()) sizes.resize(work.rung + 1);
    ++sizes[work.rung];
  }
  return sizes;
}

Space plane() {
  return space_of("\"ppo.clip_ratio\" = { uniform = [0, 1] }\n\"ppo.entropy_weight\" = { uniform = [0, 1] }");
}

// The objective of a trial is the value of its only parameter, one of 0, 1, ..., in the order of `values`.
Space line() { return space_of("seed = { integers = [0, 1000] }"); }

std::optional<double> value_of(const Assignment& assignment, double) { return assignment.values[0]; }

TEST(Grid, HasAllCombinationsTheLastParameterFastest) {
  const Space space = space_of("policy = [\"post\", \"gdp\"]\n\"ppo.clip_ratio\" = { uniform = [0, 1] }");
  const auto grid = made("grid", space, 0, "points = 3");
  EXPECT_EQ(grid->trials(), 6U);
  std::string points;
  for (const auto& [trial, a] : carry_out(*grid, 1, 1, value_of).tried)
    points += fmt::format("{},{} ", *a.values[0], *a.values[1]);
  EXPECT_EQ(points, "0,0 0,0.5 0,1 1,0 1,0.5 1,1 ");
}

TEST(Grid, CountsConditionalParametersOnlyWhereTheyAreActive) {
  const Space space(ConfigTable::parse_toml(test::mixed_space, "s.toml").table("space"));
  // reinforce: 1; ppo: 3 rates x (clip: 3 ratios + kl: 1) = 12; all times 3 of 8 to 512 and 3 of the five 1, 3, ..., 9.
  EXPECT_EQ(made("grid", space, 0, "points = 3")->trials(), (1U + 12U) * 3 * 3);
}

TEST(Grid, SpacesALogarithmicRangeByItsLogarithmAndKeepsWholeNumbersApart) {
  const Space space =
      space_of("groups = { integers = [1, 4], log = true }\n\"ppo.learning_rate\" = { log_uniform = [1e-4, 1e-2] }");
  std::set<double> groups, rates;
  for (const auto& [trial, a] : carry_out(*made("grid", space, 0, "points = 3"), 1, 1, value_of).tried) {
    groups.insert(*a.values[0]);
    rates.insert(*a.values[1]);
  }
  EXPECT_THAT(groups, ElementsAre(1, 2, 4));  // the middle of ln 0.5 and ln 4.5 is ln 1.5
  EXPECT_THAT(rates, ElementsAre(1e-4, 1e-3, 1e-2));
}

TEST(Grid, RefusesMorePointsThanTrials) {
  const Space space = plane();
  EXPECT_NO_THROW(made("grid", space, 9, "points = 3"));
  EXPECT_THROW(made("grid", space, 8, "points = 3"), InputError);
  EXPECT_THROW(made("grid", space, 0, "points = 1000"), InputError) << "a million";
}

TEST(Random, DrawsAParameterAloneWhateverOthersThereAre) {
  const Space two = plane();
  const Space one = space_of("\"ppo.clip_ratio\" = { uniform = [0, 1] }");
  const auto of_two = carry_out(*made("random", two, 20), 1, 1, value_of).tried;
  const auto of_one = carry_out(*made("random", one, 20), 1, 1, value_of).tried;
  for (const auto& [trial, assignment] : of_one) EXPECT_EQ(assignment.values[0], of_two.at(trial).values[0]);
}

TEST(Sobol, BeginsWithItsKnownPoints) {
  // Joe, Kuo 2008: the first points of the first three dimensions.
  const Space space = space_of(
      "\"ppo.clip_ratio\" = { uniform = [0, 1] }\n\"ppo.entropy_weight\" = { uniform = [0, 1] }\ngroup_share = { "
      "uniform = [0, 1] }");
  std::string points;
  for (const auto& [trial, a] : carry_out(*made("sobol", space, 6, "scrambled = false"), 1, 1, value_of).tried)
    points += fmt::format("{} {} {}; ", *a.values[0], *a.values[1], *a.values[2]);
  EXPECT_EQ(points, "0 0 0; 0.5 0.5 0.5; 0.75 0.25 0.25; 0.25 0.75 0.75; 0.375 0.375 0.625; 0.875 0.875 0.125; ");
}

TEST(Sobol, PutsOnePointIntoEachBoxHoweverItIsScrambled) {
  const Space space = plane();
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto points = sobol_points({.space = &space, .seed = seed}, true);
    std::set<int> wide, square, tall;
    for (std::size_t trial = 0; trial < 16; ++trial) {
      const std::vector<double> x = points->point(trial);
      wide.insert(static_cast<int>(x[0] * 2) * 8 + static_cast<int>(x[1] * 8));
      square.insert(static_cast<int>(x[0] * 4) * 4 + static_cast<int>(x[1] * 4));
      tall.insert(static_cast<int>(x[0] * 16));
    }
    EXPECT_EQ(wide.size(), 16U);
    EXPECT_EQ(square.size(), 16U);
    EXPECT_EQ(tall.size(), 16U);
  }
}

TEST(Halving, HalvesAsThePaperSays) {
  // Reduction 2 of 8 trials: 8, 4, 2, 1 with 1/8, 1/4, 1/2 and all of the budget.
  const Space space = line();
  const auto halving = made("halving", space, 8, "reduction = 2");
  const Carried carried = carry_out(*halving, 3, 1, value_of);
  EXPECT_THAT(rung_sizes(carried), ElementsAre(8, 4, 2, 1));
  EXPECT_EQ(halving->share(0), 0.125);
  EXPECT_EQ(halving->share(1), 0.25);
  EXPECT_EQ(halving->share(2), 0.5);
  EXPECT_EQ(halving->share(3), 1);
  EXPECT_EQ(carried.stopped.size(), 7U);
  // 8/8 + 4/8 + 2/4 + 1/2: every rung after the first costs half a budget, the first one.
  EXPECT_EQ(halving->planned_budgets(), 2.5);
}

TEST(Halving, LetsTheBestGoOnAndOfEqualsTheEarlier) {
  const Space space = line();
  const auto halving = made("halving", space, 9);
  const std::vector<double> objectives = {5, 3, 3, 8, 3, 3, 1, 9, 7};
  while (const auto work = halving->next()) halving->report(*work, objectives[work->trial]);
  // Of 1, 3, 3, 3, 3, ...: trials 6, 1 and 2; of those 6.
  std::vector<std::size_t> stopped;
  for (std::size_t trial = 0; trial < 9; ++trial)
    if (halving->stopped(trial)) stopped.push_back(trial);
  EXPECT_THAT(stopped, ElementsAre(0, 1, 2, 3, 4, 5, 7, 8));
}

TEST(Halving, TakesAsManyRungsAsItIsTold) {
  // 20 trials on three rungs of 1/9, 1/3 and 1: 20, 6 and 2.
  const Space space = line();
  const Carried carried = carry_out(*made("halving", space, 20, "rungs = 3"), 3, 1, value_of);
  EXPECT_THAT(rung_sizes(carried), ElementsAre(20, 6, 2));
}

TEST(Hyperband, HasTheBracketsOfItsAlgorithm) {
  // Li et al. 2017, algorithm 1 with R = 81 and reduction 3: n = ceil(5 / (s + 1) x 3^s) is 81, 33.75, 15, 7.5 and 5.
  const Space space = line();
  const auto hyperband = made("hyperband", space, 0, "rungs = 5");
  EXPECT_EQ(hyperband->trials(), 81U + 34 + 15 + 8 + 5);
  const Carried carried = carry_out(*hyperband, 4, 1, value_of);
  // Rung by rung: the brackets that begin there, and thirds of the earlier ones, rounded down.
  EXPECT_THAT(rung_sizes(carried), ElementsAre(81, 27 + 34, 9 + 11 + 15, 3 + 3 + 5 + 8, 1 + 1 + 1 + 2 + 5));
  EXPECT_DOUBLE_EQ(hyperband->share(0), 1.0 / 81);
  EXPECT_EQ(hyperband->share(4), 1);
}

TEST(Hyperband, GoesRoundItsBracketsUntilThereAreEnoughTrials) {
  // Reduction 3 and two rungs: a round has brackets of 3 and 2 trials. 3 + 2 + 3 + 2, and 1 is left for the next.
  const Space space = line();
  const auto hyperband = made("hyperband", space, 11, "rungs = 2");
  EXPECT_EQ(hyperband->trials(), 11U);
  EXPECT_THAT(rung_sizes(carry_out(*hyperband, 4, 1, value_of)), ElementsAre(3 + 3 + 1, (1 + 2) + (1 + 2) + 1));
}

TEST(Asha, PromotesByThePapersRule) {
  // Reduction 2, three rungs, one worker. When rung 0 has n results, a trial among its best floor(n / 2) may continue.
  const std::vector<double> objectives = {5, 3, 4, 1, 2, 6};
  const Space space = line();
  const auto asha = made("asha", space, 6, "reduction = 2\nrungs = 3");
  std::string works;
  while (const auto work = asha->next()) {
    works += fmt::format("{}:{} ", work->trial, work->rung);
    asha->report(*work, objectives[work->trial]);
  }
  EXPECT_EQ(works,
            "0:0 1:0 "      // 5, 3: of two the best one continues
            "1:1 "          // the first on rung 1 alone is not in the best half of one
            "2:0 3:0 "      // of three still one, which has continued; of 5, 3, 4, 1 two, and of those 3 is new
            "3:1 "          // rung 1 has 3 and 1: the better one continues at once, from the top rung down
            "3:2 4:0 4:1 "  // of five the best two are 1 and 2
            "5:0 ");        // of six the best three are 1, 2 and 3: all have continued
  EXPECT_TRUE(asha->finished());
  for (std::size_t trial = 0; trial < 6; ++trial) EXPECT_EQ(asha->stopped(trial), trial != 3) << trial;
}

TEST(Asha, ContinuesOtherTrialsWhileOneRuns) {
  // The first trial never ends: all others are tried, and continue without it.
  const Space space = line();
  const auto asha = made("asha", space, 30);
  ASSERT_EQ(asha->next(), (Work{0, 0}));
  std::size_t top = 0;
  while (const auto work = asha->next()) {
    asha->report(*work, static_cast<double>(work->trial));
    if (asha->share(work->rung) == 1) ++top;
  }
  EXPECT_GE(top, 1U);
  EXPECT_FALSE(asha->finished());
  asha->report({0, 0}, 1000);
  EXPECT_TRUE(asha->next().has_value()) << "one more result on the first rung lets one more go on";
}

double median_best(const std::string& strategy, const std::string& options, const Space& space,
                   const test::Judge& judge, std::size_t trials = 64) {
  std::vector<double> bests;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Carried carried = carry_out(*made(strategy, space, trials, options, seed), 4, seed, judge);
    double best = 1e9;
    for (const auto& [trial, objective] : carried.objectives) best = std::min(best, objective);
    bests.push_back(best);
  }
  std::ranges::sort(bests);
  return (bests[9] + bests[10]) / 2;
}

TEST(Tpe, FindsTheBottomOfABowlBetterThanRandomDraws) {
  const Space space = plane();
  const auto bowl = [](const Assignment& a, double) -> std::optional<double> {
    return std::hypot(*a.values[0] - 0.3, *a.values[1] - 0.7);
  };
  EXPECT_LT(median_best("tpe", "", space, bowl), 0.5 * median_best("random", "", space, bowl));
}

TEST(Tpe, LearnsWhichChoiceIsGoodAndWhereItsOwnParameterIs) {
  const Space space = space_of(
      "learner = [\"ppo\", \"reinforce\", \"post\"]\n"
      "\"ppo.learning_rate\" = { log_uniform = [1e-6, 1], when = { learner = \"ppo\" } }\n"
      "\"reinforce.learning_rate\" = { log_uniform = [1e-6, 1], when = { learner = \"reinforce\" } }");
  const auto judge = [](const Assignment& a, double) -> std::optional<double> {
    if (a.values[1]) return std::abs(std::log10(*a.values[1]) + 3);      // best at 1e-3
    if (a.values[2]) return 2 + std::abs(std::log10(*a.values[2]) + 2);  // never below 2
    return std::nullopt;
  };
  EXPECT_LT(median_best("tpe", "", space, judge), 0.5 * median_best("random", "", space, judge));
  // Of the trials after the startup most are of the best choice.
  std::size_t of_best = 0;
  for (const auto& [trial, a] : carry_out(*made("tpe", space, 64), 4, 1, judge).tried)
    if (trial >= 16 && a.values[0] == 0) ++of_best;
  EXPECT_GT(of_best, 32U);
}

TEST(Tpe, DoesNotProposeOnePointForAWholeBatch) {
  const Space space = plane();
  const auto bowl = [](const Assignment& a, double) -> std::optional<double> {
    return std::hypot(*a.values[0] - 0.3, *a.values[1] - 0.7);
  };
  const auto tried = carry_out(*made("tpe", space, 24), 8, 1, bowl).tried;
  for (std::size_t a = 16; a < 24; ++a)
    for (std::size_t b = a + 1; b < 24; ++b) EXPECT_NE(tried.at(a), tried.at(b));
}

}  // namespace
}  // namespace emplace::experiment::strategies_test
