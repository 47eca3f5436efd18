#include "learn/tree_sum.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace emplace::learn::tree_sum_test {
namespace {

std::vector<double> leaf(std::size_t i) {
  return {std::sin(static_cast<double>(i + 1)), std::exp(static_cast<double>(i % 40) - 20)};
}

std::vector<double> as_list(std::span<const double> values) { return {values.begin(), values.end()}; }

void add_leaf(TreeSum& sum, std::size_t i) { sum.add(0, i, std::span<const double>(leaf(i))); }

TEST(TreeSum, AddsPairsOfPairs) {
  // 1 + 2^-53 is 1, but 2^-53 + 2^-53 is not lost: a sum in order of the leaves would be 1.
  const double small = std::ldexp(1.0, -53);
  const std::vector<std::vector<double>> leaves = {{1}, {0}, {small}, {small}};
  TreeSum sum(4);
  for (const std::size_t i : {3, 0, 2, 1}) {
    EXPECT_FALSE(sum.complete());
    sum.add(0, i, std::span<const double>(leaves[i]));
  }
  ASSERT_TRUE(sum.complete());
  EXPECT_EQ(sum.total()[0], 1 + 2 * small);
}

TEST(TreeSum, PassesUpANodeWithoutASibling) {
  // Of 7 leaves ((0 1) (2 3)) ((4 5) 6), of 5 ((0 1) (2 3)) 4.
  const auto at = [](std::size_t i) { return leaf(i)[1]; };
  for (const std::size_t leaves : {5, 7}) {
    TreeSum sum(leaves);
    for (std::size_t i = leaves; i-- > 0;) add_leaf(sum, i);
    const double left = (at(0) + at(1)) + (at(2) + at(3));
    EXPECT_EQ(sum.total()[1], left + (leaves == 5 ? at(4) : (at(4) + at(5)) + at(6)));
  }
}

TEST(TreeSum, OfOneLeafIsTheLeaf) {
  TreeSum sum(1);
  const std::vector<float> values = {0.5F, -2};
  sum.add(0, 0, std::span<const float>(values));
  ASSERT_TRUE(sum.complete());
  EXPECT_EQ(as_list(sum.total()), (std::vector<double>{0.5, -2}));
}

// For any order of nodes, and for any aligned runs of leaves that are added up elsewhere first.
RC_GTEST_PROP(TreeSum, HasTheSameBitsForEveryDivisionAndOrder, ()) {
  const auto leaves = *rc::gen::inRange<std::size_t>(1, 60);
  TreeSum all(leaves);
  for (std::size_t i = 0; i < leaves; ++i) add_leaf(all, i);

  std::vector<std::pair<unsigned, std::size_t>> nodes;  // level, index
  for (std::size_t next = 0; next < leaves;) {
    auto level = *rc::gen::inRange<unsigned>(0, 5);
    while (next % TreeSum::width(level) != 0) --level;
    nodes.emplace_back(level, next / TreeSum::width(level));
    next += TreeSum::width(level);
  }
  TreeSum sum(leaves);
  const auto order = *rc::gen::container<std::vector<unsigned>>(nodes.size(), rc::gen::arbitrary<unsigned>());
  std::vector<std::size_t> by_order(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) by_order[i] = i;
  std::ranges::stable_sort(by_order, {}, [&](std::size_t i) { return order[i]; });
  for (const std::size_t i : by_order) {
    const auto [level, index] = nodes[i];
    const std::size_t first = index * TreeSum::width(level);
    const std::size_t count = std::min(TreeSum::width(level), leaves - first);
    TreeSum elsewhere(count);
    for (std::size_t k = 0; k < count; ++k) elsewhere.add(0, k, std::span<const double>(leaf(first + k)));
    sum.add(level, index, elsewhere.total());
  }
  RC_ASSERT(sum.complete());
  RC_ASSERT(as_list(sum.total()) == as_list(all.total()));
}

}  // namespace
}  // namespace emplace::learn::tree_sum_test
