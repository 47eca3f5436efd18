// Medians of seeds, their intervals, and how similar two tables are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "experiment/tables/reproduction.hpp"

namespace emplace::experiment::summary_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The interval by counting: all samples of n out of n values are drawn, and their medians sorted.
MedianInterval counted(const std::vector<double>& values) {
  const std::size_t n = values.size();
  std::size_t all = 1;
  for (std::size_t i = 0; i < n; ++i) all *= n;
  std::vector<double> lower, upper;  // of the two middle values
  for (std::size_t sample = 0; sample < all; ++sample) {
    std::vector<double> drawn;
    for (std::size_t i = 0, rest = sample; i < n; ++i, rest /= n) drawn.push_back(values[rest % n]);
    std::ranges::sort(drawn);
    lower.push_back(drawn[(n - 1) / 2]);
    upper.push_back(drawn[n / 2]);
  }
  std::ranges::sort(lower);
  std::ranges::sort(upper);
  const auto at = [all](double share) {
    return static_cast<std::size_t>(std::ceil(share * static_cast<double>(all) - 1e-9)) - 1;
  };
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  return {(sorted[(n - 1) / 2] + sorted[n / 2]) / 2, lower[at(0.025)], upper[at(0.975)]};
}

TEST(MedianInterval, IsThatOfAllSamplesWithReplacement) {
  EXPECT_TRUE(rc::check("counted and computed intervals are the same", [] {
    const auto whole = *rc::gen::suchThat(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50)),
                                          [](const auto& list) { return !list.empty() && list.size() <= 6; });
    const std::vector<double> values(whole.begin(), whole.end());
    const MedianInterval computed = median_interval(values), by_hand = counted(values);
    RC_ASSERT(computed.median == by_hand.median);
    RC_ASSERT(computed.low == by_hand.low);
    RC_ASSERT(computed.high == by_hand.high);
  }));
}

TEST(MedianInterval, OfSeedsThatAreInfeasibleEndsAtInfinity) {
  const MedianInterval five = median_interval({3, infinity, 1, 2, 4});
  EXPECT_EQ(five.median, 3);
  EXPECT_EQ(five.low, 1) << "3 of 5 draws are the smallest with probability 0.058";
  EXPECT_EQ(five.high, infinity);
  EXPECT_EQ(median_interval({7}).low, 7);
}

CellFigures cell(const char* method, std::optional<double> published, std::optional<double> ours) {
  CellFigures figures{.method = method};
  figures.published = Published{published, true};
  figures.status = ours ? CellStatus::ok : CellStatus::oom;
  figures.ours = figures.low = figures.high = ours;
  return figures;
}

TEST(Fidelity, ComparesOrdersTimesAndMemoryWithoutTheColumnsThatCalibrate) {
  RowFigures row{.label = "a", .model = "a"};
  row.cells = {cell("cpu", 6, 6), cell("x", 1, 1.5), cell("y", 2, 1), cell("z", std::nullopt, std::nullopt),
               cell("v", std::nullopt, 3)};
  row.cells[0].calibrates = true;
  const Fidelity fidelity = fidelity_of({row});
  // Published x < y < z = v (both OOM); ours y < x < v < z. Pairs that differ: xy (wrong), xz, xv, yz, yv (right).
  EXPECT_EQ(fidelity.orderings, 5u);
  EXPECT_EQ(fidelity.orderings_agree, 4u);
  // Ranks 1 2 3.5 3.5 and 2 1 4 3: covariance (-1.5 x -0.5 + -0.5 x -1.5 + 1 x 1.5 + 1 x 0.5) = 3.5 over
  // sqrt(4.5 x 5).
  ASSERT_TRUE(fidelity.rank_correlation[0]);
  EXPECT_NEAR(*fidelity.rank_correlation[0], 3.5 / std::sqrt(22.5), 1e-12);
  EXPECT_EQ(fidelity.oom, 2u) << "z and v";
  EXPECT_EQ(fidelity.oom_agree, 1u) << "z";
  EXPECT_DOUBLE_EQ(fidelity.relative_error.value(), 0.5) << "1.5 for 1 and 1 for 2: 0.5 each";
}

TEST(Fidelity, OrdersTheTunedColumnsInPlaceOfThePublishedOnes) {
  RowFigures row{.label = "a", .model = "a"};
  row.cells = {cell("x", 1, 5), cell("y", 2, 3), cell("z", 3, 4)};
  EXPECT_FALSE(fidelity_of({row}).tuned_agree) << "there is no tuned column";
  row.cells.push_back({.method = "x:tuned"});
  row.cells.back().status = CellStatus::ok;
  row.cells.back().ours = 2;
  // As published z < x and y < x are wrong; tuned, x < y < z as published.
  EXPECT_EQ(fidelity_of({row}).orderings, 3u);
  EXPECT_EQ(fidelity_of({row}).orderings_agree, 1u);
  EXPECT_EQ(fidelity_of({row}).tuned_agree, 3u);
}

TEST(Fidelity, OfWhatWasNotPublishedSaysNothing) {
  RowFigures row{.label = "a", .model = "a"};
  row.cells = {cell("x", 1, 1), cell("y", 2, 2)};
  row.cells.push_back({.method = "z"});
  const Fidelity fidelity = fidelity_of({row});
  EXPECT_FALSE(fidelity.rank_correlation[0]) << "of two methods";
  EXPECT_EQ(fidelity.orderings, 1u);
  EXPECT_EQ(fidelity_of({}).orderings, 0u);
  EXPECT_FALSE(fidelity_of({}).relative_error);
}

}  // namespace
}  // namespace emplace::experiment::summary_test
