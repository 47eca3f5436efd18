// ColocRL's co-location groups (docs/papers/colocrl.md, section 2.1).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "emplace/problem/grouping.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::colocrl_grouping_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::uint32_t> units_of(const Problem& p, GroupingKind kind, double max_share = 1,
                                    std::size_t at_most = 0) {
  return make_grouping(p, kind, at_most, "", 0, max_share).unit_of_op;
}

TEST(ColocrlGrouping, JoinsAnOpToItsOnlyConsumerAndLeavesForksAlone) {
  // s feeds a and b, both feed t alone: {s}, {a, b, t}.
  EXPECT_THAT(units_of(fork_join(2), GroupingKind::colocrl), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(units_of(chain_5(2), GroupingKind::colocrl), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(units_of(two_chains(1), GroupingKind::colocrl), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(ColocrlGrouping, RepeatedOnGroupsCollapsesAGraphWithOneSink) {
  // Both of s's consumers end in one group, so s has one consumer group (docs/papers/colocrl.md, section 6).
  EXPECT_THAT(units_of(fork_join(2), GroupingKind::colocrl_group), ElementsAre(0, 0, 0, 0));
  // Two sinks stay apart: s feeds t and u.
  const Problem p = tiny(plain_devices(1), {{"s", {1}}, {"t", {1}}, {"u", {1}}}, {{0, 1}, {0, 2}});
  EXPECT_THAT(units_of(p, GroupingKind::colocrl_group), ElementsAre(0, 1, 2));
}

TEST(ColocrlGrouping, CountsDistinctConsumersAndControlEdges) {
  // Two tensors of a end at b alone: one distinct consumer. c feeds d; a control edge (0 bytes) to e makes it two.
  ProblemBuilder builder("edges");
  builder.add_device({"gpu:0", "gpu", no_memory_limit});
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    OpSpec op;
    op.name = name;
    op.seconds = {1};
    builder.add_op(std::move(op));
  }
  builder.add_tensor(OpId{0u}, 4, {OpId{1u}});
  builder.add_tensor(OpId{0u}, 8, {OpId{1u}});
  builder.add_tensor(OpId{2u}, 4, {OpId{3u}});
  builder.add_tensor(OpId{2u}, 0, {OpId{4u}});
  EXPECT_THAT(units_of(builder.build("edges"), GroupingKind::colocrl), ElementsAre(0, 0, 1, 2, 3));
}

TEST(ColocrlGrouping, NumbersGroupsByTheGraphOfGroups) {
  // r -> b, p -> q, q -> b and c: {r, b} = {0, 3} waits for {p, q} = {1, 2}, so that is group 0 although op 0 is r.
  const Problem p = tiny(plain_devices(1), {{"r", {1}}, {"p", {1}}, {"q", {1}}, {"b", {1}}, {"c", {1}}},
                         {{0, 3}, {1, 2}, {2, 3}, {2, 4}});
  EXPECT_THAT(units_of(p, GroupingKind::colocrl), ElementsAre(1, 0, 0, 1, 2));
}

TEST(ColocrlGrouping, RefusesAJoinThatWouldCloseACircle) {
  // {v, w} is bound by a constraint; v -> x only, w -> y only, y -> x and z. With v joined to x, the group {v, w, x}
  // would both feed y and wait for it. w goes to y, and v with it: {v, w, y}, {z}, {x}.
  const Problem p = tiny(plain_devices(1), {{"v", {1}, "g"}, {"w", {1}, "g"}, {"y", {1}}, {"z", {1}}, {"x", {1}}},
                         {{0, 4}, {1, 2}, {2, 4}, {2, 3}});
  EXPECT_THAT(units_of(p, GroupingKind::colocrl), ElementsAre(0, 0, 0, 1, 2));
  // Without the constraint v goes to x: {w, y}, {v, x}, {z}.
  Problem free = p;
  free.group.assign(p.op_count(), GroupId{});
  EXPECT_THAT(units_of(free, GroupingKind::colocrl), ElementsAre(1, 0, 0, 2, 1));
}

TEST(ColocrlGrouping, LimitsAGroupToItsShareOfTheWork) {
  // chain-5's fastest times are 4 3 2 3 4, 16 in all. Half is 8: 4 + 3 = 7, then 2 + 3 = 5 (5 + 4 = 9 is too much).
  EXPECT_THAT(units_of(chain_5(2), GroupingKind::colocrl, 0.5), ElementsAre(0, 0, 1, 1, 2));
  // Repeated from the end: 4 + 3 = 7 (9 with the next), 2 + 3 = 5 (9 with the first).
  EXPECT_THAT(units_of(chain_5(2), GroupingKind::colocrl_group, 0.5), ElementsAre(0, 1, 1, 2, 2));
  EXPECT_THROW(units_of(chain_5(2), GroupingKind::chain, 0.5), InputError);
}

TEST(ColocrlGrouping, KeepsADeviceForEachGroup) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, no}}, {"b", {no, 1}}, {"c", {1, 1}}}, {{0, 1}, {1, 2}});
  EXPECT_THAT(units_of(p, GroupingKind::colocrl), ElementsAre(0, 1, 1));
}

TEST(ColocrlGrouping, WorksBetweenAVariableAndItsUpdate) {
  // {v, u} feeds the whole step and waits for it; f1 -> f2 -> g2 -> g1 in between, v and f1 feed g1 too. f2 and g2 have
  // one consumer each; g1's is in {v, u}, around which the step leads.
  const Problem p =
      tiny(plain_devices(1), {{"v", {1}, "w"}, {"f1", {1}}, {"f2", {1}}, {"g2", {1}}, {"g1", {1}}, {"u", {1}, "w"}},
           {{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}, {1, 4}, {4, 5}});
  EXPECT_THAT(units_of(p, GroupingKind::colocrl), ElementsAre(0, 1, 2, 2, 2, 0));
  EXPECT_EQ(make_grouping(p, GroupingKind::colocrl, 2).count(), 2U);
}

TEST(ColocrlGrouping, MergesFurtherToANumberOfGroups) {
  EXPECT_EQ(make_grouping(fork_join(2), GroupingKind::colocrl, 1).count(), 1U);
}

}  // namespace
}  // namespace emplace::colocrl_grouping_test
