// The two ways in which `best` gives its budget to placers: to all by what they gain, and as the baseline `classic`;
// and the searches `layers`, `contracted` and `layered`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "emplace/search/placer.hpp"
#include "search/local/layer_blocks.hpp"
#include "search/local/local_search.hpp"
#include "search/portfolio/by_gain.hpp"
#include "search/portfolio/members.hpp"
#include "tests/problem/tiny.hpp"
#include "tests/search/place_steps.hpp"

namespace emplace::search::portfolio_test {
namespace {

using namespace test;
using test::place;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// A layered graph of 60 ops on three devices of different speed; one device holds a third of the model.
Problem sixty_ops(std::uint64_t seed) {
  Stream random({.seed = seed});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 60; ++i) {
    ops.push_back({std::to_string(i), {4.0 + random.below(9), 1.0 + random.below(5), 1.0 + random.below(5)}, "", 1});
    if (i % 6 == 5) ops.back().colocate = "group" + std::to_string(i % 4);
    for (std::size_t j = i < 8 ? 0 : i - 8; j < i; ++j)
      if (random.below(4) == 0) edges.push_back({j, i});
  }
  return tiny({{"cpu:0", "cpu", no_memory_limit}, {"gpu:0", "gpu", 60}, {"gpu:1", "gpu", 20}}, ops, edges, 2);
}

ConfigTable classic() {
  ConfigTable options;
  options.set("roles", {"classic", "test"});
  return options;
}

// All that a result says, as one number (FNV-1a).
std::uint64_t digest(const PlacerResult& result) {
  std::uint64_t hash = 14695981039346656037U;
  const auto add = [&](std::uint64_t value) { hash = (hash ^ value) * 1099511628211U; };
  for (const std::uint8_t device : result.placement.device) add(device);
  for (const std::uint32_t op : result.placement.order) add(op);
  add(static_cast<std::uint64_t>(result.outcome.makespan));
  for (const PlacerStep& step : result.steps) {
    for (const char letter : step.method) add(static_cast<unsigned char>(letter));
    add(step.evaluations);
    add(static_cast<std::uint64_t>(step.outcome.makespan));
  }
  return hash;
}

// The numbers are those of the program before `best` had the option `roles`.
TEST(Classic, FindsWhatBestFoundBeforeItHadRoles) {
  struct Row {
    Schedule schedule;
    std::uint64_t evaluations, digest;
  };
  const Row rows[] = {
      {Schedule::fifo, 90, 10524855007443308589U},       {Schedule::fifo, 1500, 2603612379043824758U},
      {Schedule::fifo, 6000, 15172857479026529047U},     {Schedule::priority, 90, 14606564111232907966U},
      {Schedule::priority, 1500, 10239878721846458821U}, {Schedule::priority, 6000, 2386675422829533559U},
      {Schedule::in_order, 90, 2855696005430752958U},    {Schedule::in_order, 1500, 4202266101111019344U},
      {Schedule::in_order, 6000, 11492645484695259275U}};
  for (const Row& row : rows)
    EXPECT_EQ(digest(place("best", sixty_ops(row.evaluations), row.schedule, row.evaluations, nullptr, 3, classic())),
              row.digest)
        << name_of(row.schedule) << ' ' << row.evaluations;
}

std::set<std::string> methods_of(const PlacerResult& result) {
  std::set<std::string> methods;
  for (const PlacerStep& step : result.steps) methods.insert(step.method);
  return methods;
}

TEST(Classic, LeavesOutWhatIsNewer) {
  const Problem problem = sixty_ops(1);
  EXPECT_THAT(methods_of(place("best", problem, Schedule::fifo, 6000, nullptr, 3, classic())),
              AllOf(Contains("climb"), Not(Contains("layers"))));
  EXPECT_THAT(methods_of(place("best", problem, Schedule::fifo, 6000, nullptr, 3)),
              AllOf(Contains("climb"), Contains("layers")));
}

// A random graph of 30 ops of 5 to 12 ms, with 5 ops of 1 us behind each, which need not be moved one by one.
Problem many_small_ops() {
  constexpr std::size_t large = 30, small = 5;
  Stream random({.seed = 1});
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < large * (1 + small); ++i) {
    const std::size_t at = i / (1 + small);
    const double time = i % (1 + small) == 0 ? 5.0 + random.below(8) : 0.001;
    ops.push_back({std::to_string(i), {time, time}});
    if (i % (1 + small) != 0) edges.push_back({i - 1, i});
    if (i % (1 + small) == 0)
      for (std::size_t before = at < 6 ? 0 : at - 6; before < at; ++before)
        if (random.below(3) == 0) edges.push_back({before * (1 + small) + small, i});
  }
  return tiny(plain_devices(2), ops, edges, 2);
}

TEST(Contracted, TakesPartInBestWhereOpsCanBeJoined) {
  for (const std::uint64_t evaluations : {6000, 30'000})  // with one line, and with two
    EXPECT_THAT(methods_of(place("best", many_small_ops(), Schedule::fifo, evaluations, nullptr, 3)),
                Contains("contracted"));
  EXPECT_THAT(methods_of(place("best", sixty_ops(1), Schedule::fifo, 6000, nullptr, 3)), Not(Contains("contracted")));
}

TEST(Contracted, KeepsJoinedOpsTogether) {
  const Problem problem = many_small_ops();
  ConfigTable coarse;
  coarse.set("most_share", {0.0005, "test"});
  for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order}) {
    const Placement found = place("contracted", problem, schedule, 300, nullptr, 1, coarse).placement;
    for (std::size_t op = 0; op < problem.op_count(); op += 6)
      for (std::size_t small = 2; small < 6; ++small)
        EXPECT_EQ(found.device[op + small], found.device[op + 1]) << name_of(schedule) << ' ' << op;
  }
}

TEST(Contracted, IsNeverWorseThanItsStart) {
  const Problem problem = many_small_ops();
  Placement start{std::vector<std::uint8_t>(problem.op_count(), 0), {}};
  for (std::size_t op = 0; op < problem.op_count(); ++op) start.device[op] = op / 90;
  const Ticks begun = place("contracted", problem, Schedule::fifo, 1, &start).outcome.makespan;
  for (const std::uint64_t evaluations : {1, 2, 3, 50, 2000}) {
    const PlacerResult found = place("contracted", problem, Schedule::fifo, evaluations, &start);
    EXPECT_LE(found.outcome.makespan, begun);
    EXPECT_LE(found.evaluations, evaluations);
  }
}

TEST(Contracted, LeavesOutWhatBestLeavesOut) {
  ConfigTable options;
  options.set("without", {"layers,contracted", "test"});
  EXPECT_THAT(methods_of(place("best", many_small_ops(), Schedule::fifo, 6000, nullptr, 3, options)),
              AllOf(Contains("climb"), Not(Contains("contracted"))));
  EXPECT_NO_THROW(place("best", sixty_ops(1), Schedule::fifo, 6000, nullptr, 3, options)) << "where it does not pay";
  ConfigTable unknown;
  unknown.set("without", {"layer", "test"});
  EXPECT_THROW(place("contracted", many_small_ops(), Schedule::fifo, 600, nullptr, 3, unknown), InputError);
}

// `count` layers that do not depend on each other, each a chain of `length` ops of 1 ms and `more` times the root of
// the layer's number, so that no two devices get the same; transfers take 12 ms, so that an op that leaves its chain
// makes the step longer.
Problem chains_as_layers(std::size_t count, std::size_t length, double more = 0) {
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < count * length; ++i) {
    const double time = 1 + more * std::sqrt(i / length);
    ops.push_back({std::to_string(i), {time, time}});
    if (i % length != 0) edges.push_back({i - 1, i});
  }
  Problem problem = tiny(plain_devices(2), ops, edges, 12);
  for (std::size_t layer = 0; layer < count; ++layer) problem.layer.names.push_back("layer" + std::to_string(layer));
  for (std::size_t i = 0; i < ops.size(); ++i) problem.layer.of_op.push_back(static_cast<std::uint32_t>(i / length));
  return problem;
}

ConfigTable units(std::int64_t count) {
  ConfigTable options;
  options.set("units", {count, "test"});
  return options;
}

TEST(Layered, BeginsBestOnModelsOfManyOps) {
  const auto first_search = [](const Problem& problem) {
    for (const PlacerStep& step : place("best", problem, Schedule::fifo, 6000, nullptr, 3).steps)
      for (const char* search : {"layered", "layers", "climb", "contracted"})
        if (step.method == search) return step.method;
    return std::string();
  };
  EXPECT_EQ(first_search(chains_as_layers(80, 20, 0.1)), "layered");
  EXPECT_EQ(first_search(chains_as_layers(79, 20, 0.1)), "climb") << "too few units for it";
}

TEST(Layered, MovesUnitsAsAWhole) {
  const Problem problem = chains_as_layers(4, 10);
  const PlacerResult found = place("layered", problem, Schedule::fifo, 300, nullptr, 1, units(4));
  EXPECT_EQ(found.outcome.makespan, 20 * ms) << "two chains on each device";
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    EXPECT_EQ(found.placement.device[op], found.placement.device[op / 10 * 10]) << op;
}

TEST(Layered, IsNeverWorseThanItsStart) {
  for (const Problem& problem : {chains_as_layers(4, 10), many_small_ops()}) {  // without joined ops, and with them
    Placement start{std::vector<std::uint8_t>(problem.op_count(), 0), {}};
    for (std::size_t op = 0; op < problem.op_count(); ++op) start.device[op] = op * 2 / problem.op_count();
    const Ticks begun = place("layered", problem, Schedule::fifo, 1, &start).outcome.makespan;
    for (const std::uint64_t evaluations : {1, 2, 3, 50, 2000}) {
      const PlacerResult found = place("layered", problem, Schedule::fifo, evaluations, &start, 1, units(10));
      EXPECT_LE(found.outcome.makespan, begun);
      EXPECT_LE(found.evaluations, evaluations);
    }
  }
}

TEST(Classic, HasOnlyPlacersThatThereAre) {
  const std::vector<std::string> names = entry_names(placers());
  EXPECT_FALSE(is_classic("layers"));
  EXPECT_EQ(std::ranges::count_if(names, [](const std::string& name) { return is_classic(name); }), 27);
}

TEST(Best, RunsTheExactPlacersWhereNoSearchIsLeft) {
  const Problem problem = sixty_ops(1);
  PlacerRequest request;
  request.problem = &problem;
  for (const auto& [name, roles] : {std::pair("all", Roles::all), std::pair("classic", Roles::classic)}) {
    std::string without;
    for (const PortfolioEntry& search : members(roles, PlacerRole::search, request))
      without += (without.empty() ? "" : ",") + search.method;
    ConfigTable options;
    options.set("without", {without, "test"});
    options.set("roles", {name, "test"});
    std::set<std::string> ran;
    for (const PlacerStep& step : place("best", problem, Schedule::fifo, 20'000, nullptr, 1, options).steps)
      ran.insert(step.method);
    EXPECT_THAT(ran, Contains("branch-and-bound")) << name;
  }
}

TEST(Best, RefusesUnknownRoles) {
  ConfigTable options;
  options.set("roles", {"clasic", "test"});
  EXPECT_THROW(place("best", sixty_ops(1), Schedule::fifo, 100, nullptr, 1, options), InputError);
}

TEST(GainBandit, TriesNewArmsInEverySecondSlice) {
  GainBandit bandit({0, 1, 2, 3});
  EXPECT_THAT(bandit.ranking(), ElementsAre(0, 1, 2, 3));
  bandit.reward(0, 5, 10);
  EXPECT_THAT(bandit.ranking(), ElementsAre(1, 0, 2, 3));
  bandit.reward(1, 0, 10);
  EXPECT_THAT(bandit.ranking(), ElementsAre(0, 2, 3, 1)) << "0 gained; 2 and 3 cost nothing so far";
  EXPECT_THAT(bandit.ranking(), ElementsAre(2, 0, 3, 1));
}

TEST(GainBandit, PrefersTheArmThatLatelyGainedMostForItsCost) {
  GainBandit bandit({0, 1});
  bandit.reward(0, 8, 1);
  bandit.reward(1, 6, 2);
  EXPECT_THAT(bandit.ranking(), ElementsAre(0, 1)) << "8 and 3 for each unit of cost";
  bandit.reward(0, 0, 1);
  EXPECT_THAT(bandit.ranking(), ElementsAre(0, 1)) << "(8 + 0) / 2 = 4, and 3";
  bandit.reward(0, 0, 1);
  EXPECT_THAT(bandit.ranking(), ElementsAre(1, 0)) << "(4 + 0) / 2 = 2, and 3";
}

TEST(GainBandit, GivesEveryEighthSliceToTheArmThatGotLeast) {
  GainBandit bandit({0, 1, 2});
  bandit.reward(0, 9, 3);
  bandit.reward(1, 3, 2);
  bandit.reward(2, 0, 1);
  for (int slice = 0; slice < 16; ++slice)
    EXPECT_THAT(bandit.ranking(), slice % 8 == 1 ? ElementsAre(2, 0, 1) : ElementsAre(0, 1, 2)) << slice;
}

TEST(GainBandit, TriesTheFirstOfItsOrderFirstWhereNoArmWasTried) {
  GainBandit bandit({2, 0, 1});
  EXPECT_THAT(bandit.ranking(), ElementsAre(2, 0, 1));
  bandit.reward(2, 0, 1);
  EXPECT_THAT(bandit.ranking(), ElementsAre(0, 1, 2));
  bandit.forget();
  EXPECT_THAT(bandit.ranking(), ElementsAre(2, 0, 1));
}

// The searches whose slices follow the first lines: what `layers` gained from the quick placers' answer, more than any
// search can gain later, gives it no slices.
TEST(Best, ComparesSearchesByWhatTheyGainAfterTheFirstLines) {
  ConfigTable options;
  options.set("width", {std::int64_t{1}, "test"});
  std::vector<std::string> searches;
  for (const PlacerStep& step : place("best", sixty_ops(1), Schedule::fifo, 20'000, nullptr, 3, options).steps)
    if (step.method == "layers" || !searches.empty()) searches.push_back(step.method);
  ASSERT_GE(searches.size(), 5U);
  searches.resize(5);
  EXPECT_THAT(searches, ElementsAre("layers", "climb", "climb", "climb", "ruin"));
}

TEST(Climb, BeginsWithRandomChangesWhereItIsTold) {
  const Problem problem = sixty_ops(1);
  const PlacerResult start = place("contiguous", problem, Schedule::fifo, 1);
  ConfigTable kick;
  kick.set("begin", {"kick", "test"});
  const PlacerResult descended = place("climb", problem, Schedule::fifo, 100, &start.placement);
  const PlacerResult kicked = place("climb", problem, Schedule::fifo, 100, &start.placement, 1, kick);
  EXPECT_NE(digest(kicked), digest(descended));
  EXPECT_LE(kicked.outcome.makespan, start.outcome.makespan);
}

TEST(Layers, MovesWholeLayersWhereEachOpAloneWouldLose) {
  const Problem problem = chains_as_layers(2, 10);
  const Placement start{std::vector<std::uint8_t>(20, 0), {}};
  LocalSearchOptions patient;
  patient.evaluations = 1000;
  const Grouping units = make_grouping(problem, GroupingKind::colocation);
  EXPECT_EQ(local_search(problem, units, Schedule::fifo, start, patient).outcome.makespan, 20 * ms);
  EXPECT_EQ(place("layers", problem, Schedule::fifo, 200, &start).outcome.makespan, 10 * ms);
}

TEST(LayerBlocks, HaveOneLayerAndOneSetOfDevicesEach) {
  // a and b are in layer 0, but b only runs on device 1; c is in layer 1; d in none; the group {c, e} is where c is.
  Problem problem = tiny(plain_devices(2),
                         {{"a", {1, 1}}, {"b", {no, 1}}, {"c", {1, 1}, "g"}, {"d", {1, 1}}, {"e", {1, 1}, "g"}}, {});
  problem.layer.names = {"zero", "one"};
  problem.layer.of_op = {0, 0, 1, OpLabels::none, OpLabels::none};
  const Grouping blocks = layer_blocks(problem, make_grouping(problem, GroupingKind::colocation));
  ASSERT_EQ(blocks.count(), 4U);
  EXPECT_EQ(blocks.unit_of_op[2], blocks.unit_of_op[4]);
  EXPECT_EQ(
      (std::set<std::uint32_t>{blocks.unit_of_op[0], blocks.unit_of_op[1], blocks.unit_of_op[2], blocks.unit_of_op[3]})
          .size(),
      4U);
  EXPECT_FALSE(blocks.allows(blocks.unit_of_op[1], 0));
  EXPECT_TRUE(blocks.allows(blocks.unit_of_op[0], 0));
}

// More units than `layers` puts on random devices: it merges them first, and no two kinds of these share a device.
TEST(Layers, PlacesManyOpsOfWhichNoDeviceRunsAll) {
  std::vector<TinyOp> ops;
  std::vector<TinyEdge> edges;
  for (std::size_t i = 0; i < 120; ++i) {
    ops.push_back({std::to_string(i), {1.0, 1.0}});
    if (i % 3 != 0) ops.back().milliseconds[i % 3 - 1] = no;
    if (i > 0) edges.push_back({i - 1, i});
  }
  const Problem problem = tiny(plain_devices(2), ops, edges);
  const PlacerResult result = place("layers", problem, Schedule::fifo, 20'000, nullptr, 1);
  EXPECT_TRUE(result.outcome.feasible());
}

}  // namespace
}  // namespace emplace::search::portfolio_test
