// The graph of units and the state that Placeto's network reads (docs/papers/placeto.md, section 7, items 4 and 6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "tests/policy/placeto_graphs.hpp"

namespace emplace::policy::placeto_graph_test {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PlacetoGraph, PartsTheUnitsIntoRelativesOfEach) {
  EXPECT_TRUE(rc::check("ancestors, descendants, rest and v", [] {
    const auto ops = *rc::gen::inRange<std::size_t>(1, 40);
    const Problem problem = random_graph(ops, 2, *rc::gen::arbitrary<std::uint64_t>());
    const PolicyProblem list = by_op(problem);
    const PlacetoGraph graph = placeto_graph(list, false, any_stream());
    for (std::uint32_t v = 0; v < ops; ++v) {
      std::vector<std::uint32_t> all = {v};
      for (const Lists* set : {&graph.ancestors, &graph.descendants, &graph.rest})
        all.insert(all.end(), (*set)[v].begin(), (*set)[v].end());
      std::ranges::sort(all);
      RC_ASSERT(all.size() == ops);
      for (std::uint32_t u = 0; u < ops; ++u) RC_ASSERT(all[u] == u);
      // An ancestor's ancestor is an ancestor, and ancestor and descendant are inverse relations.
      for (const std::uint32_t u : graph.ancestors[v]) {
        RC_ASSERT(std::ranges::binary_search(graph.descendants[u], v));
        for (const std::uint32_t w : graph.ancestors[u]) RC_ASSERT(std::ranges::binary_search(graph.ancestors[v], w));
      }
      for (const std::uint32_t u : graph.parents[v]) RC_ASSERT(std::ranges::binary_search(graph.ancestors[v], u));
    }
    std::vector<std::size_t> visit(ops);
    for (std::size_t i = 0; i < ops; ++i) visit[graph.order[i]] = i;
    for (std::uint32_t v = 0; v < ops; ++v)
      for (const std::uint32_t u : graph.parents[v]) RC_ASSERT(visit[u] < visit[v]);
  }));
}

TEST(PlacetoGraph, TheOtherArmOfADiamondIsTheRest) {
  const Problem problem = fork_join(2);
  const PolicyProblem list = by_op(problem);
  const PlacetoGraph graph = placeto_graph(list, false, any_stream());
  EXPECT_THAT(graph.rest[1], ElementsAre(2));
  EXPECT_THAT(graph.rest[0], IsEmpty());
  EXPECT_THAT(graph.ancestors[3], ElementsAre(0, 1, 2));
}

TEST(PlacetoGraph, ARandomOrderVisitsEveryUnitOnceAndIsFixedByItsStream) {
  const Problem problem = random_graph(30, 2, 4);
  const PolicyProblem list = by_op(problem);
  const auto order = placeto_graph(list, true, any_stream()).order;
  EXPECT_EQ(order, placeto_graph(list, true, any_stream()).order);
  EXPECT_NE(order, placeto_graph(list, false, any_stream()).order);
  auto sorted = order;
  std::ranges::sort(sorted);
  for (std::uint32_t u = 0; u < 30; ++u) EXPECT_EQ(sorted[u], u);
}

TEST(PlacetoGraph, LeavesOutEdgesBackToAnEarlierUnit) {
  // Group {a, c} has an edge to b and one from b: the latter, from b to c, leads to an earlier unit.
  const Problem problem =
      tiny(plain_devices(2), {{"a", {1, 1}, "g"}, {"b", {1, 1}}, {"c", {1, 1}, "g"}}, {{0, 1}, {1, 2}});
  const PlacetoGraph graph =
      placeto_graph({&problem, make_grouping(problem, GroupingKind::colocation)}, false, any_stream());
  EXPECT_THAT(graph.children[0], ElementsAre(1));
  EXPECT_THAT(graph.children[1], IsEmpty());
  EXPECT_THAT(graph.descendants[0], ElementsAre(1));
  EXPECT_THAT(graph.ancestors[0], IsEmpty());
}

TEST(PlacetoState, IsWhatItsPageSays) {
  // chain-5's mean times 6 4.5 5 4.5 6; each op has one output of 0 bytes but the last.
  const Problem problem = chain_5(2);
  const PolicyProblem list = by_op(problem);
  const PlacetoGraph graph = placeto_graph(list, false, any_stream());
  // Placement 0 1 1 1 0 runs at 0, 6, 9, 11, 16; the third is placed now, so starts are -9 -3 0 2 7, the largest 9.
  std::vector<float> starts;
  read_unit_starts(list.grouping, std::vector<Ticks>{0, 6 * ms, 9 * ms, 11 * ms, 16 * ms}, 2, starts);
  EXPECT_THAT(starts, ElementsAre(-1.0F, static_cast<float>(-3.0 / 9), 0.0F, static_cast<float>(2.0 / 9),
                                  static_cast<float>(7.0 / 9)));
  std::vector<float> state(5 * 7);
  write_placeto_state(graph, 2, false, 2, std::vector<std::uint8_t>{0, 1, 1, 1, 0}, starts, state);
  EXPECT_THAT(std::span(state).subspan(0, 7), ElementsAre(1.0F, 0.0F, 1.0F, 0.0F, -1.0F, 1.0F, 0.0F));
  EXPECT_THAT(std::span(state).subspan(14, 7),
              ElementsAre(static_cast<float>(5.0 / 6), 0.0F, 0.0F, 1.0F, 0.0F, 0.0F, 1.0F));
  EXPECT_THAT(std::span(state).subspan(28, 7),
              ElementsAre(1.0F, 0.0F, 0.0F, 0.0F, static_cast<float>(7.0 / 9), 1.0F, 0.0F));
}

TEST(PlacetoState, HasOneCurrentUnitOneMoreDoneEachStepAndNoStartWhereThereAreNoTimes) {
  const Problem problem = random_graph(12, 3, 2);
  const PolicyProblem list = by_op(problem);
  const PlacetoGraph graph = placeto_graph(list, true, any_stream());
  std::vector<float> starts;
  read_unit_starts(list.grouping, {}, 0, starts);
  EXPECT_THAT(starts, ::testing::Each(0.0F));
  const std::size_t d = placeto_features(3, true);
  std::vector<float> state(12 * d);
  for (std::size_t step = 0; step < 12; ++step) {
    write_placeto_state(graph, 3, true, step, std::vector<std::uint8_t>(12, no_device), starts, state);
    double done = 0, current = 0, devices = 0;
    for (std::size_t u = 0; u < 12; ++u) {
      done += state[u * d + 2];
      current += state[u * d + 3];
      for (std::size_t j = d - 3; j < d; ++j) devices += state[u * d + j];
    }
    EXPECT_EQ(done, static_cast<double>(step));
    EXPECT_EQ(current, 1);
    EXPECT_EQ(state[graph.order[step] * d + 3], 1);
    EXPECT_EQ(devices, 0) << "units on no device show none";
  }
}

TEST(PlacetoState, HasStartsWithinOneOfTheCurrentUnits) {
  EXPECT_TRUE(rc::check("starts in [-1, 1], 0 at the current unit, in the order of the times", [] {
    const auto ops = *rc::gen::inRange<std::size_t>(1, 20);
    const auto at = *rc::gen::container<std::vector<std::uint32_t>>(ops, rc::gen::inRange<std::uint32_t>(0, 1000));
    const auto current = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(ops));
    const Problem problem = random_graph(ops, 2, 1);  // unit u is op u
    const std::vector<Ticks> starts(at.begin(), at.end());
    std::vector<float> relative;
    read_unit_starts(by_op(problem).grouping, starts, current, relative);
    RC_ASSERT(relative.size() == ops);
    RC_ASSERT(relative[current] == 0.0F);
    float largest = 0;
    for (std::size_t u = 0; u < ops; ++u) {
      largest = std::max(largest, std::abs(relative[u]));
      RC_ASSERT((relative[u] < 0) == (starts[u] < starts[current]));
    }
    const bool is_any_apart = std::ranges::any_of(starts, [&](Ticks start) { return start != starts[current]; });
    RC_ASSERT(largest == (is_any_apart ? 1.0F : 0.0F));
  }));
}

}  // namespace
}  // namespace emplace::policy::placeto_graph_test
