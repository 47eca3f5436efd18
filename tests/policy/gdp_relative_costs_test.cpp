// Costs relative to other devices and units (src/policy/gdp/relative_costs.hpp).
#include "policy/gdp/relative_costs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/problem/tiny.hpp"

namespace emplace::policy::gdp_relative_costs_test {
namespace {

using namespace test;

TEST(RelativeCosts, OfAHandWorkedExample) {
  // a takes 4 and 1 ms, b 3 ms on device 0 only; a sends a tensor, which takes 2 ms either way.
  const Problem p = tiny(plain_devices(2), {{"a", {4, 1}}, {"b", {3, no}}}, {{0, 1}}, 2);
  const PolicyProblem problem(&p, make_grouping(p, GroupingKind::op));
  const RelativeCosts costs = relative_costs(problem);
  ASSERT_EQ(costs.units.size(), 2 * gdp_unit_costs);
  ASSERT_EQ(costs.pairs.size(), 2 * 2 * gdp_pair_costs);
  const auto near = [](float found, double wanted) { EXPECT_NEAR(found, wanted, 1e-5); };
  near(costs.units[0], std::log(1 / 2.0));    // the fastest times are 1 and 3, 2 in the mean
  near(costs.units[1], std::log(2.5));        // (4 + 1) / 2 beside 1
  near(costs.units[2], 0);                    // nothing is resident
  near(costs.units[3], std::log1p(2 / 1.0));  // 2 ms of transfer for 1 ms of work
  near(costs.units[4], std::log(3 / 2.0));
  near(costs.units[5], 0);
  near(costs.units[7], 0);                  // b sends nothing
  near(costs.pairs[0], std::log(1 / 4.0));  // a on device 0
  near(costs.pairs[2], std::log1p(2));
  near(costs.pairs[3], 0);                                                 // a on device 1, its fastest
  near(costs.pairs[6], 0);                                                 // b on device 0
  for (std::size_t i = 9; i < 12; ++i) EXPECT_EQ(costs.pairs[i], 0) << i;  // it cannot run on 1
}

TEST(RelativeCosts, AreTheSameOnAMachineThatIsTwiceAsFastThroughout) {
  const auto costs = [](double factor) {
    const Problem p =
        tiny(plain_devices(2), {{"a", {4 * factor, factor}}, {"b", {3 * factor, 6 * factor}}}, {{0, 1}}, 2 * factor);
    const PolicyProblem problem(&p, make_grouping(p, GroupingKind::op));
    return relative_costs(problem);
  };
  const RelativeCosts one = costs(1), two = costs(2);
  for (std::size_t i = 0; i < one.units.size(); ++i) EXPECT_NEAR(one.units[i], two.units[i], 1e-5);
  for (std::size_t i = 0; i < one.pairs.size(); ++i) EXPECT_NEAR(one.pairs[i], two.pairs[i], 1e-5);
}

}  // namespace
}  // namespace emplace::policy::gdp_relative_costs_test
