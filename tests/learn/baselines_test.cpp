#include "learn/baselines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

#include "emplace/base/error.hpp"

namespace emplace::learn::baselines_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

using Values = std::vector<double>;

TEST(Baselines, OfColocRlBeginAtTheFailingRewardAndMoveATenth) {
  // docs/papers/colocrl.md, item 7.5: after a first update with all R = r, B = 0.9 R_fail + 0.1 r = 0.9 x -10 + 0.1 x
  // -2 = -9.2.
  Baselines baselines(BaselineKind::moving_average, 0.9, 1);
  EXPECT_THAT(baselines.of({}, Values{-2, -2, -2}, -10), Each(-10.0)) << "the first update itself uses R_fail";
  EXPECT_DOUBLE_EQ(baselines.of({}, Values{0}, -10).front(), -9.2);
}

TEST(Baselines, BeginAtTheFirstMeanWithoutAStart) {
  Baselines baselines(BaselineKind::moving_average, 0.9, 1);
  EXPECT_THAT(baselines.of({}, Values{1, 3}, {}), Each(2.0));
  EXPECT_THAT(baselines.of({}, Values{12}, {}), Each(2.0));
  EXPECT_DOUBLE_EQ(baselines.of({}, Values{0}, {}).front(), 0.9 * 2 + 0.1 * 12);
  baselines.restart();
  EXPECT_THAT(baselines.of({}, Values{7, 9}, {}), Each(8.0));
}

TEST(Baselines, OfAWindowHaveThePresentBatch) {
  Baselines baselines(BaselineKind::window, 0, 3);
  EXPECT_THAT(baselines.of({}, Values{4}, {}), ElementsAre(4)) << "so the first episode has no advantage";
  EXPECT_THAT(baselines.of({}, Values{8}, {}), ElementsAre(6));
  EXPECT_THAT(baselines.of({}, Values{2, 4}, {}), Each(5.0)) << "(4 + 8 + 3) / 3";
  EXPECT_THAT(baselines.of({}, Values{1}, {}), ElementsAre(4)) << "(8 + 3 + 1) / 3";
}

TEST(Baselines, LeaveTheSampleItselfOut) {
  Baselines baselines(BaselineKind::leave_one_out, 0, 1);
  EXPECT_THAT(baselines.of({}, Values{1, 2, 6}, {}), ElementsAre(4, 3.5, 1.5));
  EXPECT_THAT(baselines.of({}, Values{5}, {}), ElementsAre(5)) << "no other sample to compare with";
}

TEST(Baselines, KeepProblemsControllersAndRoundsApart) {
  Baselines baselines(BaselineKind::moving_average, 0.5, 1);
  EXPECT_THAT(baselines.of({0, 0, 0}, Values{1}, {}), ElementsAre(1));
  EXPECT_THAT(baselines.of({1, 0, 0}, Values{2}, {}), ElementsAre(2));
  EXPECT_THAT(baselines.of({0, 1, 0}, Values{3}, {}), ElementsAre(3));
  EXPECT_THAT(baselines.of({0, 0, 1}, Values{4}, {}), ElementsAre(4));
  EXPECT_THAT(baselines.of({0, 0, 0}, Values{1}, {}), ElementsAre(1));
}

TEST(Baselines, AreZeroWhereThereAreNone) {
  EXPECT_THAT(Baselines(BaselineKind::none, 0, 1).of({}, Values{3, 4}, 9), Each(0.0));
}

TEST(Baselines, LeaveAdvantagesOfOneBatchThatAddUpToNothing) {
  EXPECT_TRUE(rc::check("leave-one-out and first means", [] {
    auto whole = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1000, 1000));
    RC_PRE(!whole.empty());
    const Values returns(whole.begin(), whole.end());
    for (const BaselineKind kind : {BaselineKind::leave_one_out, BaselineKind::moving_average, BaselineKind::window}) {
      double sum = 0;
      const Values baselines = Baselines(kind, 0.9, 5).of({}, returns, {});
      for (std::size_t i = 0; i < returns.size(); ++i) sum += returns[i] - baselines[i];
      RC_ASSERT(std::abs(sum) < 1e-6);
    }
  }));
}

TEST(Baselines, ContinueAfterSaveAndLoad) {
  for (const BaselineKind kind : {BaselineKind::moving_average, BaselineKind::window}) {
    Baselines baselines(kind, 0.9, 3);
    for (const double value : {1, 5, 9, 2}) baselines.of({1, 2, 3}, Values{value}, {});
    baselines.of({0, 0, 1}, Values{7}, {});
    State state;
    baselines.save(state);
    Baselines resumed(kind, 0.9, 3);
    resumed.load(state);
    EXPECT_EQ(resumed.of({1, 2, 3}, Values{4}, {}), baselines.of({1, 2, 3}, Values{4}, {}));
    EXPECT_EQ(resumed.of({0, 0, 1}, Values{4}, {}), baselines.of({0, 0, 1}, Values{4}, {}));
    put(state, "baseline_count", std::vector<std::uint64_t>{1, 1000});
    EXPECT_THROW(resumed.load(state), InputError);
  }
}

}  // namespace
}  // namespace emplace::learn::baselines_test
