#include "fit/planner.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "fit/greedy.hpp"
#include "fit/orders.hpp"
#include "fit/runtime.hpp"
#include "fit/state.hpp"
#include "tests/fit/small_chains.hpp"

namespace emplace::fit {
namespace {

using enum UnitKind;

// A fast device with room for 10 bytes and a host. Both layers are alike: attention 2 bytes, 1 or 4 ticks; experts 5
// bytes, 2 or 6 ticks. A hop takes 1.
Chain two_layers() {
  return chain_from({{input, -1, 0, {1, 1}},
                     {attention, 0, 2, {1, 4}},
                     {feed_forward, 0, 0, {1, 2}},
                     {experts, 0, 5, {2, 6}},
                     {attention, 1, 2, {1, 4}},
                     {feed_forward, 1, 0, {1, 2}},
                     {experts, 1, 5, {2, 6}},
                     {output, -1, 0, {1, 2}}},
                    {10, 100}, 1);
}

Planned planned_in(const Chain& chain, const Space& space, std::vector<std::vector<std::uint8_t>> orders, Aim aim) {
  return plan({.chain = chain,
               .space = space,
               .orders = std::move(orders),
               .all_orders = true,
               .aim = aim,
               .exempt = std::vector<std::uint8_t>(chain.device_count(), 0),
               .starts = {}});
}

TEST(Planner, SendsTheExpertsOfOneLayerToTheHostWhereWholeLayersDoNotFit) {
  const Chain chain = two_layers();
  // Both attentions and the experts of one layer take 2 + 2 + 5 = 9 of 10 bytes. A token takes 1 for the input, 1 + 1 +
  // 2 in one layer, 1 + 1 + (1 + 6 + 1) in the other, and 1 for the output: 16. Whole layers: the first on the host
  // takes 1 + 4 + 2 + 6 there, hop 1, 1 + 1 + 2, output 1: 19.
  const Planned best = planned_in(chain, free_space(chain), {{0, 1}}, Aim::latency);
  ASSERT_TRUE(best.assignment);
  EXPECT_EQ(best.ticks, 16);
  EXPECT_EQ(best.bound, 16);
  EXPECT_TRUE(best.proved);
  EXPECT_EQ(held(chain, *best.assignment), (std::vector<Bytes>{9, 5}));
  const auto rule = greedy_rules()[0].place({.chain = chain, .hosts = {1}, .accelerators = {0}});
  ASSERT_TRUE(rule);
  EXPECT_EQ(latency(chain, *rule), 19);
}

TEST(Planner, FindsAndProvesTheBestOfAllAssignmentsOfSmallChains) {
  EXPECT_TRUE(rc::check("planner against all assignments", [] {
    const Chain chain = drawn_chain();
    const auto best = least_of_all(
        chain, [&](const Assignment& a) { return latency(chain, a); }, [](const Assignment&) { return true; });
    const Planned found = planned_in(chain, free_space(chain), {{}}, Aim::latency);
    RC_ASSERT(found.assignment.has_value() == best.has_value());
    RC_ASSERT(found.proved);
    if (!best) return;
    RC_ASSERT(found.ticks == *best);
    RC_ASSERT(latency(chain, *found.assignment) == *best);
    RC_ASSERT(has_room(chain, held(chain, *found.assignment)));
    RC_ASSERT(found.bound <= *best);
  }));
}

std::vector<std::string> host_first(std::size_t devices) {
  std::vector<std::string> kinds(devices, "gpu");
  kinds[0] = "cpu";
  return kinds;
}

TEST(Planner, FindsTheBestPlanThatARuntimeCanBeToldOfSmallChains) {
  EXPECT_TRUE(rc::check("planner against all sayable assignments", [] {
    const Chain chain = drawn_chain();
    const auto kinds = host_first(chain.device_count());
    const RuntimeEntry& runtime = runtimes()[*rc::gen::inRange<std::size_t>(0, runtimes().size())];
    const auto best = least_of_all(
        chain, [&](const Assignment& a) { return latency(chain, a); },
        [&](const Assignment& a) { return why_unsayable(runtime.rules, chain, kinds, a).empty(); });
    std::optional<Ticks> found;
    Ticks bound = total_limit;
    for (const RuntimeSpace& space : spaces_of(runtime.rules, chain, kinds)) {
      const Planned planned = planned_in(space.merged.chain, space.space, space.orders, Aim::latency);
      bound = std::min(bound, planned.bound);
      if (!planned.assignment) continue;
      const Assignment full = space.merged.expand(*planned.assignment);
      RC_ASSERT(why_unsayable(runtime.rules, chain, kinds, full) == "");
      RC_ASSERT(latency(chain, full) == planned.ticks);
      if (!found || planned.ticks < *found) found = planned.ticks;
    }
    RC_ASSERT(found == best);
    if (best) RC_ASSERT(bound <= *best);
  }));
}

TEST(Planner, BoundsTheBusiestDeviceFromBelow) {
  EXPECT_TRUE(rc::check("throughput bound against all assignments", [] {
    const Chain chain = drawn_chain();
    const std::vector<std::uint8_t> exempt(chain.device_count(), 0);
    const auto busiest = [&](const Assignment& a) { return std::ranges::max(loads(chain, a, exempt)); };
    const auto best = least_of_all(chain, busiest, [](const Assignment&) { return true; });
    const Planned found = planned_in(chain, free_space(chain), {{}}, Aim::throughput);
    if (!best) {
      RC_ASSERT(!found.assignment);
      return;
    }
    RC_ASSERT(found.bound <= *best);
    if (!found.assignment) return;
    RC_ASSERT(busiest(*found.assignment) == found.ticks);
    RC_ASSERT(found.ticks >= *best);
  }));
}

TEST(Planner, IsNeverSlowerThanTheGreedyRulesThatItStartsFrom) {
  EXPECT_TRUE(rc::check("planner against greedy rules", [] {
    const Chain chain = drawn_chain();
    const auto kinds = host_first(chain.device_count());
    std::vector<std::uint8_t> accelerators;
    for (std::size_t d = 1; d < chain.device_count(); ++d) accelerators.push_back(static_cast<std::uint8_t>(d));
    const auto spaces = spaces_of({.in_pieces = true, .input_on_host = true}, chain, kinds);
    for (const GreedyRule& rule : greedy_rules()) {
      const auto start =
          rule.place({.chain = chain, .hosts = {0}, .accelerators = accelerators, .input_on_host = true});
      if (!start) continue;
      RC_ASSERT(has_room(chain, held(chain, *start)));
      RC_ASSERT(contains(chain, spaces[0].space, spaces[0].orders[0], *start));
      for (const Aim aim : {Aim::latency, Aim::throughput}) {
        const std::vector<std::uint8_t> exempt(chain.device_count(), 0);
        const Planned found = plan({.chain = chain,
                                    .space = spaces[0].space,
                                    .orders = spaces[0].orders,
                                    .all_orders = true,
                                    .aim = aim,
                                    .exempt = exempt,
                                    .starts = {*start}});
        RC_ASSERT(found.assignment.has_value());
        const Ticks cost =
            aim == Aim::latency ? latency(chain, *start) : std::ranges::max(loads(chain, *start, exempt));
        RC_ASSERT(found.ticks <= cost);
      }
    }
  }));
}

TEST(Planner, KeepsCostsBytesAndLoadsOfMovedUnits) {
  EXPECT_TRUE(rc::check("moves against a new state", [] {
    const Chain chain = drawn_chain();
    const Space space = free_space(chain);
    const std::vector<std::uint8_t> exempt(chain.device_count(), 0);
    for (const Aim aim : {Aim::latency, Aim::throughput}) {
      PlanState state(chain, space, {}, aim, exempt, Assignment(chain.size(), 0));
      for (int i = 0; i < 12; ++i) {
        const auto u = *rc::gen::inRange<std::size_t>(0, chain.size());
        const auto d = *rc::gen::inRange<std::size_t>(0, chain.device_count());
        if (!state.can_move(u, d)) continue;
        state.move(u, d);
        const PlanState again(chain, space, {}, aim, exempt, state.assignment());
        RC_ASSERT(state.cost() == again.cost());
        RC_ASSERT(state.over() == again.over());
      }
    }
  }));
}

TEST(GreedyRules, FillDevicesInOrderAndGiveTheRestToTheHost) {
  // Three layers of 4 bytes and an output of 1; device 1 has room for one layer, device 2 for one and the output.
  std::vector<UnitRow> rows;
  for (std::int64_t i = 0; i < 3; ++i) rows.push_back({attention, i, 4, {1, 1, 1}});
  rows.push_back({output, -1, 1, {1, 1, 1}});
  const Chain chain = chain_from(rows, {100, 4, 6}, 1);
  const auto placed = greedy_rules()[0].place({.chain = chain, .hosts = {0}, .accelerators = {1, 2}});
  ASSERT_TRUE(placed);
  EXPECT_EQ(*placed, (Assignment{0, 1, 2, 2}));
}

TEST(GreedyRules, DivideLayersByMemoryAsLlamaCppDoes) {
  // Room 30 and 10: of 4 items, item i is on device 1 if i / 4 < 30 / 40, so the first three.
  std::vector<UnitRow> rows;
  for (std::int64_t i = 0; i < 3; ++i) rows.push_back({attention, i, 4, {1, 1, 1}});
  rows.push_back({output, -1, 1, {1, 1, 1}});
  const Chain chain = chain_from(rows, {100, 30, 10}, 1);
  const auto placed = greedy_rules()[1].place({.chain = chain, .hosts = {0}, .accelerators = {1, 2}});
  ASSERT_TRUE(placed);
  EXPECT_EQ(*placed, (Assignment{1, 1, 1, 2}));
}

TEST(Orders, DoNotExchangeEqualDevices) {
  const Chain chain = chain_from({{attention, 0, 1, {5, 3, 3, 3}}}, {9, 9, 9, 9}, 1);
  EXPECT_EQ(orders_of(chain, {1, 2, 3}, 100).list.size(), 1U);
  EXPECT_EQ(orders_of(chain, {0, 1, 2, 3}, 100).list.size(), 4U);
  const auto some = orders_of(chain, {0, 1, 2, 3}, 3);
  EXPECT_FALSE(some.all);
  EXPECT_NE(std::ranges::find(some.list, std::vector<std::uint8_t>{0, 1, 2, 3}), some.list.end());
}

}  // namespace
}  // namespace emplace::fit
