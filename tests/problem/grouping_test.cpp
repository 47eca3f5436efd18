#include "emplace/problem/grouping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "tests/problem/tiny.hpp"

namespace emplace::grouping_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Grouping, OfOpsIgnoresColocation) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 1}, "g"}, {"b", {1, 1}, "g"}}, {{0, 1}});
  EXPECT_THAT(make_grouping(p, GroupingKind::op).unit_of_op, ElementsAre(0, 1));
}

TEST(Grouping, OfColocationGroupsNumbersUnitsByTheirFirstOpInTopologicalOrder) {
  // Topological order (smallest id first among the ready): c(2) -> a(0) -> b(1), so {c, b} is unit 0.
  const Problem p = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, no}, "g"}, {"c", {1, 1}, "g"}}, {{2, 0}, {0, 1}});
  const Grouping g = make_grouping(p, GroupingKind::colocation);
  EXPECT_THAT(g.unit_of_op, ElementsAre(1, 0, 0));
  EXPECT_THAT(std::vector(g.members[0].begin(), g.members[0].end()), ElementsAre(1, 2));
  EXPECT_THAT(g.allowed, ElementsAre(1, 0, 1, 1)) << "b cannot run on device 1, so neither can its group";
  EXPECT_THAT(g.expand({0, 1}).device, ElementsAre(1, 0, 0));
}

TEST(Grouping, OfChainsContractsOnlyChildOnlyParentEdges) {
  //      b -> c
  //  a <        > e -> f     a has two children, e two parents: {a}, {b, c}, {d}, {e, f}
  //      d ----
  const std::vector<TinyOp> ops = {{"a", {1}}, {"b", {1}}, {"c", {1}}, {"d", {1}}, {"e", {1}}, {"f", {1}}};
  const Problem p = tiny(plain_devices(1), ops, {{0, 1}, {0, 3}, {1, 2}, {2, 4}, {3, 4}, {4, 5}});
  EXPECT_THAT(make_grouping(p, GroupingKind::chain).unit_of_op, ElementsAre(0, 1, 1, 2, 3, 3));
}

TEST(Grouping, OfChainsCountsATensorReadTwiceByOneGroupAsOneEdge) {
  // a feeds b1 and b2, which are one group: a has one consumer unit, {b1, b2} one producer unit.
  const Problem p = tiny(plain_devices(1), {{"a", {1}}, {"b1", {1}, "b"}, {"b2", {1}, "b"}}, {{0, 1}, {0, 2}});
  EXPECT_THAT(make_grouping(p, GroupingKind::chain).unit_of_op, ElementsAre(0, 0, 0));
}

TEST(Grouping, OfChainsStaysDefinedWhereGroupsCloseACircle) {
  // {a, c} <-> {b}: both edges are only-child and only-parent, the ring becomes one unit.
  const Problem ring = tiny(plain_devices(1), {{"a", {1}, "g"}, {"b", {1}}, {"c", {1}, "g"}}, {{0, 1}, {1, 2}});
  EXPECT_THAT(make_grouping(ring, GroupingKind::chain).unit_of_op, ElementsAre(0, 0, 0));
  // s also feeds the group: {a, c} has two producers, so b -> {a, c} stays; {a, c} -> b is contracted.
  const Problem fed = tiny(plain_devices(1), {{"a", {1}, "g"}, {"b", {1}}, {"c", {1}, "g"}, {"s", {1}}, {"t", {1}}},
                           {{0, 1}, {1, 2}, {3, 2}, {3, 4}});
  EXPECT_THAT(make_grouping(fed, GroupingKind::chain).unit_of_op, ElementsAre(0, 0, 0, 1, 2));
}

TEST(Grouping, OfChainsCutsWhereNoDeviceCouldRunBothSides) {
  // b runs on device 0 only, c on device 1 only: {a, b}, {c, d}.
  const Problem p =
      tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, no}}, {"c", {no, 1}}, {"d", {1, 1}}}, {{0, 1}, {1, 2}, {2, 3}});
  const Grouping g = make_grouping(p, GroupingKind::chain);
  EXPECT_THAT(g.unit_of_op, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(g.allowed, ElementsAre(1, 0, 0, 1));
}

TEST(Grouping, OfSingleParentsJoinsEveryUnitThatHasOneProducer) {
  // docs/papers/hsdag.md, section 7.2: p feeds x and y, both feed z. chain: 4 units, single-parent: {p, x, y}, {z}.
  const std::vector<TinyOp> ops = {{"p", {1}}, {"x", {1}}, {"y", {1}}, {"z", {1}}};
  const Problem p = tiny(plain_devices(1), ops, {{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  EXPECT_EQ(make_grouping(p, GroupingKind::chain).count(), 4U);
  EXPECT_THAT(make_grouping(p, GroupingKind::single_parent).unit_of_op, ElementsAre(0, 0, 0, 1));
}

TEST(Grouping, OfSingleParentsCutsWhereNoDeviceCouldRunBothSides) {
  // a feeds b and c; b runs on device 0 only, c on device 1 only, d behind c: {a, b}, {c, d}.
  const Problem p =
      tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, no}}, {"c", {no, 1}}, {"d", {1, 1}}}, {{0, 1}, {0, 2}, {2, 3}});
  EXPECT_THAT(make_grouping(p, GroupingKind::single_parent).unit_of_op, ElementsAre(0, 0, 1, 1));
}

TEST(Grouping, OfSingleParentsStaysDefinedWhereGroupsCloseACircle) {
  // {a, c} <-> {b}: each is the other's only producer.
  const Problem ring = tiny(plain_devices(1), {{"a", {1}, "g"}, {"b", {1}}, {"c", {1}, "g"}}, {{0, 1}, {1, 2}});
  EXPECT_THAT(make_grouping(ring, GroupingKind::single_parent).unit_of_op, ElementsAre(0, 0, 0));
}

TEST(Grouping, AtMostMergesTheUnitOfLeastWorkIntoTheNeighbourOfMostBytes) {
  // Work a 5, b 1, c 5, d 4; bytes a>b 10, b>c 30, c>d 20. First b joins c (30 > 10), giving 6; then d (4) joins {b,
  // c}.
  const Problem p =
      tiny(plain_devices(1), {{"a", {5}, "", 0, 10}, {"b", {1}, "", 0, 30}, {"c", {5}, "", 0, 20}, {"d", {4}}},
           {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_THAT(make_grouping(p, GroupingKind::op, 3).unit_of_op, ElementsAre(0, 1, 1, 2));
  EXPECT_THAT(make_grouping(p, GroupingKind::op, 2).unit_of_op, ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(make_grouping(p, GroupingKind::op, 1).unit_of_op, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(make_grouping(p, GroupingKind::op, 4).unit_of_op, ElementsAre(0, 1, 2, 3));
}

TEST(Grouping, EvenMergesTheUnitOfLeastWorkIntoTheNeighbourOfMostBytesForItsWork) {
  // b (1) sends a little more to the large c (8) than it gets from a (2).
  const Problem p =
      tiny(plain_devices(1), {{"a", {2}, "", 0, 20}, {"b", {1}, "", 0, 30}, {"c", {8}}}, {{0, 1}, {1, 2}});
  EXPECT_THAT(make_grouping(p, GroupingKind::op, 2).unit_of_op, ElementsAre(0, 1, 1));
  const Grouping even = make_grouping(p, GroupingKind::even, 2);
  EXPECT_THAT(even.unit_of_op, ElementsAre(0, 0, 1));
}

TEST(Grouping, EvenStaysEvenWhereItIsMergedFurther) {
  // Eight like ops, each of which sends as much to all that come later: what has merged exchanges most with all others.
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t op = 0; op < 8; ++op) {
    ops.push_back({"op" + std::to_string(op), {4}, "", 0, 100});
    for (std::size_t from = 0; from < op; ++from) edges.push_back({from, op});
  }
  const Problem p = tiny(plain_devices(1), ops, edges);
  const auto largest = [](const Grouping& g) {
    std::size_t most = 0;
    for (std::size_t unit = 0; unit < g.count(); ++unit) most = std::max(most, g.members[unit].size());
    return most;
  };
  for (const GroupingKind kind : {GroupingKind::colocation, GroupingKind::even}) {
    const Grouping fine = make_grouping(p, kind, 6);
    EXPECT_EQ(largest(coarsen(p, fine, 2)), kind == GroupingKind::even ? 4U : 7U) << name_of(kind);
  }
  std::size_t of_most_bytes = 0, of_most_for_work = 0;  // over draws
  const std::vector<std::uint8_t> together(p.op_count(), 0);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Stream random({.seed = seed, .purpose = Purpose::test});
    of_most_bytes += largest(coarsen_in_place(p, make_grouping(p, GroupingKind::op), 2, together, random));
    of_most_for_work += largest(coarsen_in_place(p, make_grouping(p, GroupingKind::even), 2, together, random));
  }
  EXPECT_LT(of_most_for_work + 20, of_most_bytes);
}

TEST(Grouping, OfLayersJoinsOpsOfDifferentLayersLast) {
  // a > b exchange most bytes, but b is of the layer of c; d has no layer and joins where it sends most.
  Problem p = tiny(plain_devices(1), {{"a", {4}, "", 0, 90}, {"b", {4}, "", 0, 10}, {"c", {5}, "", 0, 5}, {"d", {1}}},
                   {{0, 1}, {1, 2}, {2, 3}});
  EXPECT_THAT(make_grouping(p, GroupingKind::layers, 2).unit_of_op, ElementsAre(0, 0, 1, 1)) << "no op has a layer";
  p.layer = {.of_op = {0, 1, 1, OpLabels::none}, .names = {"first", "second"}};
  EXPECT_THAT(make_grouping(p, GroupingKind::even, 2).unit_of_op, ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(make_grouping(p, GroupingKind::layers, 3).unit_of_op, ElementsAre(0, 1, 2, 2));
  EXPECT_THAT(make_grouping(p, GroupingKind::layers, 2).unit_of_op, ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(make_grouping(p, GroupingKind::layers, 1).unit_of_op, ElementsAre(0, 0, 0, 0));
}

TEST(Grouping, AtMostTakesAnotherNeighbourWhereDevicesForbidTheFirst) {
  // b would join c (30 bytes), but no device runs both.
  const Problem p =
      tiny(plain_devices(2), {{"a", {5, 5}, "", 0, 10}, {"b", {1, no}, "", 0, 30}, {"c", {no, 5}}}, {{0, 1}, {1, 2}});
  EXPECT_THAT(make_grouping(p, GroupingKind::op, 2).unit_of_op, ElementsAre(0, 0, 1));
}

TEST(Grouping, AtMostJoinsUnitsWithoutNeighbours) {
  const Problem p = tiny(plain_devices(1), {{"a", {5}}, {"b", {1}}, {"c", {2}}}, {});
  EXPECT_EQ(make_grouping(p, GroupingKind::op, 2).count(), 2u);
  EXPECT_EQ(make_grouping(p, GroupingKind::op, 1).count(), 1u);
}

TEST(Grouping, AtMostMoreThanThereAreOpsMergesNothing) {
  const Problem p = chain_5(1);
  EXPECT_EQ(make_grouping(p, GroupingKind::op, 6, "r.toml:3").count(), 5U);
  EXPECT_EQ(make_grouping(p, GroupingKind::random, 400, "r.toml:3").unit_of_op.size(), 5U);
}

TEST(Grouping, RefusesFewerGroupsThanDevicesAllow) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, no}}, {"b", {no, 1}}}, {{0, 1}});
  EXPECT_THAT(message_of([&] { make_grouping(p, GroupingKind::op, 1); }), HasSubstr("2 remain"));
}

TEST(Grouping, AtRandomDrawsEachGroupEquallyOftenAndByTheSeed) {
  // 3,000 ops, 3 groups: 1,000 +- 26 (one sigma) in each.
  const std::vector<TinyOp> ops = [] {
    std::vector<TinyOp> list;
    for (int i = 0; i < 3000; ++i) list.push_back({"op" + std::to_string(i), {1, 1}});
    return list;
  }();
  const Problem p = tiny(plain_devices(2), ops, {});
  const Grouping g = make_grouping(p, GroupingKind::random, 3, "", 5);
  ASSERT_EQ(g.count(), 3u);
  for (std::size_t unit = 0; unit < 3; ++unit) EXPECT_NEAR(static_cast<double>(g.members[unit].size()), 1000, 130);
  EXPECT_EQ(make_grouping(p, GroupingKind::random, 3, "", 5).unit_of_op, g.unit_of_op);
  EXPECT_NE(make_grouping(p, GroupingKind::random, 3, "", 6).unit_of_op, g.unit_of_op);
}

TEST(Grouping, AtRandomDrawsOpsIndependently) {
  // Of any two ops half of the samples share one of two groups: 2,000 +- 32 of 4,000.
  const Problem p = two_chains(1);
  std::vector<int> together(8, 0);
  for (std::uint64_t sample = 0; sample < 4000; ++sample) {
    const Stream draws({.seed = 3, .purpose = Purpose::random_grouping, .update = sample, .index = 0});
    const Grouping g = random_grouping(p, 2, draws);
    for (std::size_t i = 1; i < 8; ++i) together[i] += g.unit_of_op[0] == g.unit_of_op[i];
  }
  for (std::size_t i = 1; i < 8; ++i) EXPECT_NEAR(together[i], 2000, 160) << i;
}

TEST(Grouping, AtRandomKeepsColocatedOpsTogetherAndGroupsRunnable) {
  // Of 24 ops 8 run on device 0 only, 8 on device 1 only; two groups of 3 ops each are bound.
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    std::vector<TinyOp> ops;
    for (std::size_t i = 0; i < 24; ++i) {
      ops.push_back({"op" + std::to_string(i), {1, 1}});
      if (i % 3 > 0) ops[i].milliseconds[i % 3 - 1] = no;
      if (i % 12 == 0 || i % 12 == 3 || i % 12 == 6) ops[i].colocate = i < 12 ? "x" : "y";
    }
    const Problem p = tiny(plain_devices(2), ops, {});
    const Grouping g = make_grouping(p, GroupingKind::random, 1 + seed % 6, "", seed);
    EXPECT_LE(g.count(), 2 + seed % 6) << "at most one more group, for the other device";
    for (std::size_t unit = 0; unit < g.count(); ++unit) EXPECT_TRUE(g.allows(unit, 0) || g.allows(unit, 1));
    for (const std::size_t i : {3, 6}) {
      EXPECT_EQ(g.unit_of_op[0], g.unit_of_op[i]);
      EXPECT_EQ(g.unit_of_op[12], g.unit_of_op[12 + i]);
    }
  }
}

TEST(Grouping, AtRandomNeedsANumberOfGroups) {
  EXPECT_EQ(message_of([] { make_grouping(chain_5(1), GroupingKind::random, 0, "r.toml:3"); }),
            "r.toml:3: the grouping 'random' needs a number of groups");
}

TEST(Grouping, NamesTheNearestKind) {
  EXPECT_THAT(message_of([] { grouping_of("chains", "r.toml:1"); }), HasSubstr("did you mean 'chain'?"));
  for (const std::string& name : grouping_names()) EXPECT_EQ(name_of(grouping_of(name, "")), name);
}

Problem random_problem(std::size_t ops, std::size_t devices, std::uint64_t seed, std::uint32_t groups) {
  Stream random{{.seed = seed}};
  std::vector<TinyOp> list;
  std::vector<TinyEdge> edges;
  for (std::size_t op = 0; op < ops; ++op) {
    TinyOp next{"op" + std::to_string(op), {}, "", 0, static_cast<Bytes>(random.below(100))};
    const bool grouped = groups > 0 && random.below(3) == 0;
    if (grouped) next.colocate = "g" + std::to_string(random.below(groups));
    const std::size_t home = random.below(static_cast<std::uint32_t>(devices));
    for (std::size_t d = 0; d < devices; ++d)
      next.milliseconds.push_back(grouped || d == home || random.below(3) > 0 ? 1 + random.below(9) : no);
    list.push_back(std::move(next));
    std::set<std::size_t> from;
    for (std::uint32_t k = random.below(3); k > 0 && op > 0; --k)
      from.insert(op - 1 - random.below(static_cast<std::uint32_t>(std::min<std::size_t>(op, 4))));
    for (const std::size_t f : from) edges.push_back({f, op});
  }
  return tiny(plain_devices(devices), list, edges);
}

bool units_form_a_cycle(const Problem& p, const Grouping& g) {
  std::vector<std::set<std::uint32_t>> to(g.count());
  std::vector<int> missing(g.count(), 0);
  for (std::uint32_t t = 0; t < p.tensor_count(); ++t)
    for (const std::uint32_t consumer : p.consumers[t]) {
      const auto from = g.unit_of_op[p.producer[t].index()];
      if (from != g.unit_of_op[consumer] && to[from].insert(g.unit_of_op[consumer]).second)
        ++missing[g.unit_of_op[consumer]];
    }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t u = 0; u < g.count(); ++u)
    if (missing[u] == 0) ready.push_back(u);
  std::size_t done = 0;
  for (; done < ready.size(); ++done)
    for (const std::uint32_t next : to[ready[done]])
      if (--missing[next] == 0) ready.push_back(next);
  return done < g.count();
}

TEST(Grouping, LawsHoldOnRandomProblems) {
  EXPECT_TRUE(rc::check("every op once, groups together, a device each, no cycle is closed", [] {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const auto ops = *rc::gen::inRange<std::size_t>(1, 40);
    const auto devices = *rc::gen::inRange<std::size_t>(1, 4);
    const auto groups = *rc::gen::inRange<std::uint32_t>(0, 4);
    const Problem p = random_problem(ops, devices, seed, groups);
    const Grouping colocated = make_grouping(p, GroupingKind::colocation);
    const Grouping chains = make_grouping(p, GroupingKind::chain);
    const double share = *rc::gen::element(1.0, 0.5, 0.1);
    const Grouping colocrl = make_grouping(p, GroupingKind::colocrl, 0, "", 0, share);
    const Grouping repeated = make_grouping(p, GroupingKind::colocrl_group, 0, "", 0, share);
    const Grouping parents = make_grouping(p, GroupingKind::single_parent);
    const Grouping even = coarsen(p, make_grouping(p, GroupingKind::even), 1 + ops / 2);
    Problem layered = p;
    layered.layer.names = {"first", "second", "third"};
    for (std::size_t op = 0; op < ops; ++op) layered.layer.of_op.push_back(op % 4 == 3 ? OpLabels::none : op % 4);
    const Grouping layers = make_grouping(layered, GroupingKind::layers, std::min(ops, 4 + ops / 2));
    for (const Grouping* g : {&colocated, &chains, &colocrl, &repeated, &parents, &even, &layers}) {
      std::vector<std::uint32_t> all(g->members.items);
      std::sort(all.begin(), all.end());
      for (std::uint32_t op = 0; op < ops; ++op) RC_ASSERT(all[op] == op);
      for (std::size_t u = 0; u < g->count(); ++u) {
        bool any = false;
        for (std::size_t d = 0; d < devices; ++d) {
          bool every = true;
          for (const std::uint32_t op : g->members[u]) every = every && p.can_run(OpId{op}, DeviceId{d});
          RC_ASSERT(g->allows(u, d) == every);
          any = any || every;
        }
        RC_ASSERT(any);
      }
      for (std::size_t a = 0; a < ops; ++a)
        for (std::size_t b = 0; b < a; ++b)
          if (!p.group[a].is_none() && p.group[a] == p.group[b]) RC_ASSERT(g->unit_of_op[a] == g->unit_of_op[b]);
    }
    RC_ASSERT(chains.count() <= colocated.count());
    if (!units_form_a_cycle(p, colocated))
      for (const Grouping* g : {&chains, &colocrl, &repeated, &parents}) RC_ASSERT(!units_form_a_cycle(p, *g));
  }));
}

// docs/papers/hsdag.md, section 7.2: chain leaves |V| - #{(i, j): out(i) = 1, in(j) = 1}, single-parent #{v: in(v) !=
// 1}.
TEST(Grouping, OfChainsAndOfSingleParentsHaveAsManyUnitsAsTheirFormulasSay) {
  EXPECT_TRUE(rc::check("on one device and without groups", [] {
    const auto ops = *rc::gen::inRange<std::size_t>(1, 60);
    const Problem p = random_problem(ops, 1, *rc::gen::arbitrary<std::uint64_t>(), 0);
    std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor)
      for (const std::uint32_t consumer : p.consumers[tensor])
        edges.emplace(static_cast<std::uint32_t>(p.producer[tensor].index()), consumer);
    std::vector<std::size_t> in(ops, 0), out(ops, 0);
    for (const auto& [a, b] : edges) ++out[a], ++in[b];
    const auto links =
        std::ranges::count_if(edges, [&](const auto& e) { return out[e.first] == 1 && in[e.second] == 1; });
    RC_ASSERT(make_grouping(p, GroupingKind::chain).count() == ops - static_cast<std::size_t>(links));
    const auto roots = std::ranges::count_if(in, [](std::size_t degree) { return degree != 1; });
    RC_ASSERT(make_grouping(p, GroupingKind::single_parent).count() == static_cast<std::size_t>(roots));
  }));
}

TEST(Grouping, AtMostReachesEveryCountWhereAllDevicesRunEverything) {
  EXPECT_TRUE(rc::check("exactly min(units, at_most) units", [] {
    const auto ops = *rc::gen::inRange<std::size_t>(1, 30);
    const Problem p = random_problem(ops, 1, *rc::gen::arbitrary<std::uint64_t>(), 2);
    const auto at_most = *rc::gen::inRange<std::size_t>(1, ops + 1);
    const std::size_t units = make_grouping(p, GroupingKind::colocation).count();
    RC_ASSERT(make_grouping(p, GroupingKind::colocation, at_most).count() == std::min(units, at_most));
  }));
}

TEST(Grouping, ColocrlReachesEveryCountWithoutACircle) {
  EXPECT_TRUE(rc::check("exactly min(units, at_most) units, in topological order", [] {
    const auto ops = *rc::gen::inRange<std::size_t>(1, 30);
    const Problem p = random_problem(ops, 1, *rc::gen::arbitrary<std::uint64_t>(), 0);
    const auto at_most = *rc::gen::inRange<std::size_t>(1, ops + 1);
    const std::size_t units = make_grouping(p, GroupingKind::colocrl).count();
    const Grouping merged = make_grouping(p, GroupingKind::colocrl, at_most);
    RC_ASSERT(merged.count() == std::min(units, at_most));
    for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor)
      for (const std::uint32_t consumer : p.consumers[tensor])
        RC_ASSERT(merged.unit_of_op[p.producer[tensor].index()] <= merged.unit_of_op[consumer]);
  }));
}

// Two chains of four ops, one on each device: units merge along them, never across, although {3, 4} exchange as much.
TEST(Grouping, CoarsenedInPlaceKeepsToDevices) {
  std::vector<TinyOp> each;
  for (char name = 'a'; name <= 'h'; ++name) each.push_back({std::string(1, name), {1, 1}});
  const Problem p = tiny(plain_devices(2), each, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}}, 1);
  const std::vector<std::uint8_t> device = {0, 0, 0, 0, 1, 1, 1, 1};
  const Grouping ops = make_grouping(p, GroupingKind::op);
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Grouping g = coarsen_in_place(p, ops, 4, device, Stream({.seed = seed}));
    EXPECT_EQ(g.count(), 4U);
    for (std::size_t unit = 0; unit < g.count(); ++unit)
      for (const std::uint32_t op : g.members[unit]) EXPECT_EQ(device[op], device[g.members[unit].front()]);
    EXPECT_EQ(coarsen_in_place(p, ops, 4, device, Stream({.seed = seed})).unit_of_op, g.unit_of_op);
    seen.insert(g.unit_of_op);
  }
  EXPECT_GT(seen.size(), 1U) << "draws differ";
  // One unit a device is as far as it goes.
  EXPECT_EQ(coarsen_in_place(p, ops, 1, device, Stream({.seed = 1})).unit_of_op,
            (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Grouping, CoarsenedInPlaceKeepsADeviceForUnitsThatAreWhereTheyCannotRun) {
  std::vector<TinyOp> each;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 8; ++i) {
    each.push_back({std::to_string(i), {1, 1, no}});
    each.back().milliseconds[i % 2] = no;
    if (i > 0) edges.push_back({i - 1, i});
  }
  const Problem p = tiny(plain_devices(3), each, edges, 1);
  const std::vector<std::uint8_t> nowhere(8, 2);
  const Grouping g = coarsen_in_place(p, make_grouping(p, GroupingKind::op), 1, nowhere, Stream({.seed = 1}));
  EXPECT_EQ(g.count(), 2U) << "the ops of each device";
  for (std::size_t unit = 0; unit < g.count(); ++unit) EXPECT_TRUE(g.allows(unit, 0) || g.allows(unit, 1)) << unit;
}

// Every third op runs on both devices, the others on one each.
TEST(Grouping, CoarsenedAtRandomDependsOnTheStreamAndKeepsADeviceForEachUnit) {
  std::vector<TinyOp> each;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 60; ++i) {
    each.push_back({std::to_string(i), {1, 1}});
    if (i % 3 != 0) each.back().milliseconds[i % 3 - 1] = no;
    for (std::size_t back = 1; back <= std::min<std::size_t>(i, 3); ++back) edges.push_back({i - back, i});
  }
  const Problem p = tiny(plain_devices(2), each, edges, 1);
  const Grouping ops = make_grouping(p, GroupingKind::op);
  const auto drawn = [&](std::uint64_t seed) { return coarsen_at_random(p, ops, 30, Stream({.seed = seed})); };
  const Grouping first = drawn(1);
  EXPECT_EQ(first.unit_of_op, drawn(1).unit_of_op);
  EXPECT_NE(first.unit_of_op, drawn(2).unit_of_op);
  EXPECT_LT(first.count(), 60U);
  for (std::size_t unit = 0; unit < first.count(); ++unit)
    EXPECT_TRUE(first.allows(unit, 0) || first.allows(unit, 1)) << unit;
  EXPECT_EQ(coarsen_at_random(p, ops, 60, Stream({.seed = 1})).unit_of_op, ops.unit_of_op);
}

}  // namespace
}  // namespace emplace::grouping_test
