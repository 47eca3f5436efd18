#include "language/buffer_plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

namespace emplace::language {
namespace {

constexpr Bytes unit = 32;

TEST(BufferPlan, ATensorTakesThePlaceOfOneThatNobodyReadsAnyMore) {
  BufferPlan plan;
  const auto first = plan.result(4 * unit, {});
  const auto second = plan.result(4 * unit, {first});  // `first` ends here, at places 0 to 3
  plan.result(4 * unit, {second});
  EXPECT_EQ(plan.totals(), std::vector<Bytes>{8 * unit});
}

TEST(BufferPlan, ATensorTooLargeForTheFreedBlockGoesToTheEnd) {
  BufferPlan plan;
  const auto first = plan.result(4 * unit, {});
  const auto second = plan.result(unit, {first});
  // 0 to 3 are free, but 6 need places 5 to 10: 11 in all, though no more than 7 are alive at one time.
  plan.result(6 * unit, {second});
  EXPECT_EQ(plan.totals(), std::vector<Bytes>{11 * unit});
}

TEST(BufferPlan, AnElementWiseOpOverwritesASourceThatNothingElseReads) {
  BufferPlan plan;
  const auto first = plan.result(4 * unit, {});
  plan.in_place(4 * unit, {first});
  EXPECT_EQ(plan.totals(), std::vector<Bytes>{4 * unit});
}

TEST(BufferPlan, AnElementWiseOpDoesNotOverwriteWhatIsReadLater) {
  BufferPlan plan;
  const auto first = plan.result(4 * unit, {});
  const auto second = plan.in_place(4 * unit, {first});
  plan.result(unit, {first, second});
  EXPECT_EQ(plan.totals(), std::vector<Bytes>{9 * unit});
}

TEST(BufferPlan, ATensorLivesAsLongAsItsViews) {
  BufferPlan plan;
  const auto first = plan.result(4 * unit, {});
  const auto view = plan.view(first);
  const auto second = plan.result(4 * unit, {});
  plan.result(4 * unit, {second});  // may not take the places of `first`
  plan.read(view);
  EXPECT_EQ(plan.totals(), std::vector<Bytes>{12 * unit});
}

TEST(BufferPlan, WhatIsKeptIsNeverOverwritten) {
  BufferPlan plan;
  const auto first = plan.result(4 * unit, {});
  plan.keep(first);
  const auto second = plan.result(4 * unit, {first});
  plan.result(4 * unit, {second});
  EXPECT_EQ(plan.totals(), std::vector<Bytes>{12 * unit});
}

TEST(BufferPlan, InputsAreThereFromTheBeginning) {
  BufferPlan plan;
  const auto early = plan.result(4 * unit, {});
  plan.result(unit, {early, plan.input(2 * unit)});
  EXPECT_EQ(plan.totals(), std::vector<Bytes>{7 * unit});
}

TEST(BufferPlan, ADeviceCopiesWhatAnotherComputed) {
  BufferPlan plan(2);
  const auto first = plan.result(4 * unit, {});
  plan.on(1);
  plan.result(2 * unit, {first});
  EXPECT_EQ(plan.totals(), (std::vector<Bytes>{4 * unit, 6 * unit}));
}

TEST(BufferPlan, ACopyIsMadeOnceForADevice) {
  BufferPlan plan(2);
  const auto first = plan.result(4 * unit, {});
  plan.on(1);
  plan.result(unit, {first});
  plan.on(0);
  plan.result(unit, {first});
  plan.on(1);
  plan.result(unit, {first});
  EXPECT_EQ(plan.totals()[1], 6 * unit);
}

TEST(BufferPlan, InputsAndCopiesAreThereForEachMicroBatchThatIsComputedAtOneTime) {
  BufferPlan plan(2, 4);
  const auto input = plan.input(2 * unit);
  plan.on(1);
  plan.result(unit, {input});
  EXPECT_EQ(plan.totals(), (std::vector<Bytes>{8 * unit, 9 * unit}));
}

TEST(BufferPlan, PlacesAreAtMultiplesOfTheAlignment) {
  BufferPlan plan;
  const auto first = plan.result(1, {});
  plan.result(1, {first});
  EXPECT_EQ(plan.totals(32), std::vector<Bytes>{64});
  EXPECT_EQ(plan.totals(128), std::vector<Bytes>{256});
}

// Chains of results, each of which reads some earlier ones: no buffer is smaller than the most that is alive at one
// time, nor larger than all tensors together.
RC_GTEST_PROP(BufferPlan, ABufferIsBetweenWhatIsAliveAndAllTensors, ()) {
  const auto sizes = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 50)));
  BufferPlan plan;
  std::vector<BufferPlan::Tensor> tensors;
  std::vector<std::size_t> last_read(sizes.size());
  std::vector<std::vector<std::size_t>> reads(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    BufferPlan::Tensor source = -1;
    last_read[i] = i;
    if (i > 0) {
      const auto from = *rc::gen::inRange<std::size_t>(0, i);
      source = tensors[from];
      last_read[from] = i;
    }
    tensors.push_back(source < 0 ? plan.result(sizes[i] * unit, {}) : plan.result(sizes[i] * unit, {source}));
  }
  Bytes most = 0;
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    Bytes alive = 0;
    for (std::size_t i = 0; i <= at; ++i)
      if (last_read[i] >= at) alive += sizes[i] * unit;
    most = std::max(most, alive);
  }
  const Bytes total = plan.totals()[0];
  RC_ASSERT(total >= most);
  RC_ASSERT(total <= std::accumulate(sizes.begin(), sizes.end(), Bytes{0}) * unit);
}

}  // namespace
}  // namespace emplace::language
