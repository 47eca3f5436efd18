#include "learn/returns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

namespace emplace::learn::returns_test {
namespace {

using ::testing::ElementsAre;

std::vector<double> returns_of(const std::vector<double>& rewards, ReturnForm form, double discount) {
  std::vector<double> returns{7};  // old contents
  returns_of(rewards, form, discount, returns);
  return returns;
}

// Placeto's rho: round 0 is the initial placement. Its own return is left out.
std::vector<double> placeto(const std::vector<double>& rho, ReturnForm form, double discount = 1) {
  std::vector<double> rewards;
  for (const double cost : rho) rewards.push_back(-cost);
  auto returns = returns_of(rewards, form, discount);
  returns.erase(returns.begin());
  return returns;
}

TEST(Returns, AreThoseOfPlacetosWorkedExample) {
  // Item 7.2: rho = 5, 3, 4, 2: r = 2, -1, 2.
  EXPECT_THAT(placeto({5, 3, 4, 2}, ReturnForm::step), ElementsAre(3, 1, 2));
  EXPECT_THAT(placeto({5, 3, 4, 2}, ReturnForm::step, 0), ElementsAre(2, -1, 2));
  EXPECT_THAT(placeto({5, 3, 4, 2}, ReturnForm::best), ElementsAre(3, 1, 2));
  EXPECT_THAT(placeto({5, 3, 2, 4}, ReturnForm::step), ElementsAre(1, -1, -2));
  EXPECT_THAT(placeto({5, 3, 2, 4}, ReturnForm::best), ElementsAre(3, 1, -2));
  EXPECT_THAT(placeto({5, 3, 2, 4}, ReturnForm::final), ElementsAre(-4, -4, -4)) << "one_shot: -rho_N";
}

TEST(Returns, DiscountLaterSteps) {
  // r = 2, -1, 2: G_2 = 2, G_1 = -1 + 0.5 x 2 = 0, G_0 = 2 + 0.5 x 0 = 2.
  EXPECT_THAT(placeto({5, 3, 4, 2}, ReturnForm::step, 0.5), ElementsAre(2, 0, 2));
}

TEST(Returns, OfOneRoundAreItsRewardInEveryForm) {
  for (const ReturnForm form : {ReturnForm::final, ReturnForm::step, ReturnForm::best})
    EXPECT_THAT(returns_of(std::vector{-3.5}, form, 0.9), ElementsAre(-3.5));
  EXPECT_TRUE(returns_of({}, ReturnForm::step, 1).empty());
}

// docs/papers/hsdag.md, section 7.8: gamma = 0.5, r = (4, 2).
TEST(Returns, AreEachRoundsOwnRewardOrTheirSumTowardsTheLast) {
  EXPECT_THAT(returns_of(std::vector{4.0, 2.0}, ReturnForm::own, 0.5), ElementsAre(2, 0.5)) << "0.5 x 4, 0.25 x 2";
  EXPECT_THAT(returns_of(std::vector{4.0, 2.0}, ReturnForm::late, 0.5), ElementsAre(4, 4)) << "2 + 0.5 x 4";
  EXPECT_THAT(returns_of(std::vector{3.0}, ReturnForm::own, 0.9), ElementsAre(::testing::DoubleEq(2.7)));
  EXPECT_THAT(returns_of(std::vector{3.0}, ReturnForm::late, 0.9), ElementsAre(3));
  // Section 6.4: over 20 rounds the weights add up to 12.83, the last being 1.
  EXPECT_NEAR(returns_of(std::vector(20, 1.0), ReturnForm::late, 0.95).front(), 12.83, 0.005);
}

TEST(Returns, OfStepsTelescope) {
  EXPECT_TRUE(rc::check("G of the first step is rho_0 - rho_N, and the sum of all r", [] {
    auto whole = *rc::gen::container<std::vector<int>>(rc::gen::inRange(-1000, 1000));
    RC_PRE(whole.size() >= 2u);
    const std::vector<double> rho(whole.begin(), whole.end());
    RC_ASSERT(placeto(rho, ReturnForm::step).front() == rho.front() - rho.back());
    const std::vector<double> r = placeto(rho, ReturnForm::step, 0);
    RC_ASSERT(std::accumulate(r.begin(), r.end(), 0.0) == rho.front() - rho.back());
  }));
}

}  // namespace
}  // namespace emplace::learn::returns_test
