// Ideals and the preprocessing of contiguous splits.
#include "search/pipeline/ideals.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "search/pipeline/split_classes.hpp"
#include "tests/support/partitioning.hpp"

namespace emplace::search::ideals_test {
namespace {

using test::chain_of;
using test::Partitioning;

std::optional<Ideals> ideals_of(const Partitioning& toy, std::size_t limit = 1000) {
  const SplitClasses classes = split_classes(toy.problem(), false);
  return enumerate_ideals(classes.before, classes.after, limit);
}

Partitioning nodes(std::size_t count, std::vector<std::pair<int, int>> edges) {
  Partitioning toy;
  toy.nodes.assign(count, {.accelerator = 1, .cpu = 1});
  toy.edges = std::move(edges);
  return toy;
}

TEST(Ideals, HaveTheCountsOfThePaper) {
  // docs/papers/tarnawski.md, section 7 item 3.
  EXPECT_EQ(ideals_of(chain_of({1, 1, 1, 1, 1}))->count(), 6u);
  EXPECT_EQ(ideals_of(nodes(4, {}))->count(), 16u);
  EXPECT_EQ(ideals_of(nodes(4, {{0, 1}, {0, 2}, {1, 3}, {2, 3}}))->count(), 6u);
  EXPECT_EQ(ideals_of(nodes(6, {{0, 1}, {1, 2}, {3, 4}, {4, 5}}))->count(), 16u);
}

TEST(Ideals, AreRefusedBeyondTheLimit) {
  EXPECT_TRUE(ideals_of(nodes(4, {}), 16).has_value());
  EXPECT_FALSE(ideals_of(nodes(4, {}), 15).has_value());
  // There are 2^200 of them: the limit ends the enumeration before memory does.
  EXPECT_FALSE(ideals_of(nodes(200, {})).has_value());
  // There are no lists of n classes for each of n ideals either: with 20,000 of both they would have 1.6 GB.
  EXPECT_FALSE(ideals_of(nodes(20'000, {}), 100'000).has_value());
}

TEST(Ideals, StopWhenTold) {
  const SplitClasses classes = split_classes(nodes(4, {}).problem(), false);
  EXPECT_FALSE(enumerate_ideals(classes.before, classes.after, 1000, [] { return true; }).has_value());
}

TEST(Ideals, OfRandomGraphsAreAllSetsClosedUnderPredecessors) {
  EXPECT_TRUE(rc::check("enumeration = brute force", [] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 9);
    std::vector<std::uint32_t> closed_over(count, 0);  // direct predecessors of each as a bit set
    Lists before, after;
    std::vector<std::vector<std::uint32_t>> successors(count);
    for (std::uint32_t v = 0; v < count; ++v) {
      for (std::uint32_t u = 0; u < v; ++u)
        if (*rc::gen::inRange(0, 3) == 0) {
          closed_over[v] |= 1U << u;
          before.items.push_back(u);
          successors[u].push_back(v);
        }
      before.begin.push_back(static_cast<std::uint32_t>(before.items.size()));
    }
    for (const auto& row : successors) {
      after.items.insert(after.items.end(), row.begin(), row.end());
      after.begin.push_back(static_cast<std::uint32_t>(after.items.size()));
    }
    std::set<std::uint32_t> expected;
    for (std::uint32_t set = 0; set < 1U << count; ++set) {
      bool closed = true;
      for (std::uint32_t v = 0; v < count; ++v)
        if ((set >> v & 1) != 0 && (closed_over[v] & ~set) != 0) closed = false;
      if (closed) expected.insert(set);
    }
    const auto ideals = enumerate_ideals(before, after, 1000);
    RC_ASSERT(ideals->count() == expected.size());
    // Every ideal from its links, which all lead to the same set; as many as it has maximal members.
    std::vector<std::uint32_t> sets(1, 0);
    for (std::size_t i = 1; i < ideals->count(); ++i) {
      std::set<std::uint32_t> found;
      for (std::uint32_t item = ideals->smaller.begin[i]; item < ideals->smaller.begin[i + 1]; ++item)
        found.insert(sets[ideals->smaller.items[item]] | 1U << ideals->removed[item]);
      RC_ASSERT(found.size() == 1u);
      sets.push_back(*found.begin());
      std::size_t smaller = 0;
      for (std::uint32_t v = 0; v < count; ++v)
        smaller += (sets[i] >> v & 1) != 0 && expected.contains(sets[i] & ~(1U << v)) ? 1 : 0;
      RC_ASSERT(ideals->smaller[i].size() == smaller);
    }
    RC_ASSERT(std::set<std::uint32_t>(sets.begin(), sets.end()) == expected);
  }));
}

TEST(Ideals, OfAnOrderAreItsPrefixes) {
  const std::vector<std::uint32_t> order = {2, 0, 1};
  const Ideals chain = prefixes_of(order);
  EXPECT_EQ(chain.count(), 4u);
  EXPECT_EQ(chain.removed, order);
}

TEST(SplitClasses, JoinGroupsAndWhatACircleHoldsTogether) {
  // 0 -> 1 -> 2 -> 3 with 0 and 2 in a class: 1 is on a path out of the class and back.
  Partitioning chain = chain_of({1, 1, 1, 1});
  chain.nodes[0].color = chain.nodes[2].color = 7;
  const SplitClasses classes = split_classes(chain.problem(), true);
  EXPECT_EQ(classes.count(), 2u);
  EXPECT_EQ(classes.of_op, (std::vector<std::uint32_t>{0, 0, 0, 1}));
}

TEST(SplitClasses, GiveClassesOfBackwardOpsTheirMirroredPlace) {
  // f1 -> f2 -> b2 -> x -> b1 with x a class of its own, between the classes of b2 and b1: mirrored b1 -> x -> b2, that
  // is class 1 -> x -> class 2.
  Partitioning toy;
  toy.nodes = {{.accelerator = 1, .color = 1},
               {.accelerator = 1, .color = 2},
               {.accelerator = 1, .color = 2, .backward = true},
               {.accelerator = 1, .backward = true},
               {.accelerator = 1, .color = 1, .backward = true}};
  toy.edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}};
  const SplitClasses classes = split_classes(toy.problem(), true);
  ASSERT_EQ(classes.count(), 3u);
  EXPECT_EQ(enumerate_ideals(classes.before, classes.after, 100)->count(), 4u);  // a chain of three
  EXPECT_EQ(depth_first_order(classes),
            (std::vector<std::uint32_t>{classes.of_op[0], classes.of_op[3], classes.of_op[1]}));
}

TEST(SplitClasses, LetIdleClassesGoWithTheirOnlyNeighbour) {
  // 0 -> 1 -> 2, 3 -> 1, 4 -> 1, 4 -> 2; 0, 3 and 4 take no time, 4 has two neighbours.
  Partitioning toy = nodes(5, {{0, 1}, {1, 2}, {3, 1}, {4, 1}, {4, 2}});
  for (const std::size_t idle : {0, 3, 4}) toy.nodes[idle].accelerator = toy.nodes[idle].cpu = 0;
  EXPECT_EQ(split_classes(toy.problem(), false).count(), 5u);
  const SplitClasses merged = split_classes(toy.problem(), true);
  EXPECT_EQ(merged.count(), 3u);
  EXPECT_EQ(merged.of_op[0], merged.of_op[1]);
  EXPECT_EQ(merged.of_op[3], merged.of_op[1]);
  // Not where memory could be short: 3 weighs something, and not every device holds all.
  toy.nodes[3].size = 7;
  EXPECT_EQ(split_classes(toy.problem(), true).count(), 3u);
  toy.memory = 6;
  EXPECT_EQ(split_classes(toy.problem(), true).count(), 4u);
}

TEST(SplitClasses, DepthFirstOrderTakesTheSmallestOfTheNewest) {
  // 0 -> 1 -> 3, 0 -> 2 -> 4: 0, 1, its successor 3, then 2 and 4.
  const SplitClasses classes = split_classes(nodes(5, {{0, 1}, {0, 2}, {1, 3}, {2, 4}}).problem(), false);
  EXPECT_EQ(depth_first_order(classes), (std::vector<std::uint32_t>{0, 1, 3, 2, 4}));
}

}  // namespace
}  // namespace emplace::search::ideals_test
