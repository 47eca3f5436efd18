// Ruined regions of a placement, and the choice among their kinds.
#include "search/local/ruined_region.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/problem/tiny.hpp"
#include "tests/search/random_step.hpp"

namespace emplace::search::ruined_region_test {
namespace {

using namespace test;
using Change = RuinKind::Change;
using Region = RuinKind::Region;

// A chain of `length` ops on three equal devices, all on the first.
struct Chain {
  explicit Chain(std::size_t length) {
    std::vector<TinyOp> ops;
    std::vector<TinyEdge> edges;
    for (std::size_t i = 0; i < length; ++i) {
      ops.push_back({std::to_string(i), {1, 1, 1}});
      if (i > 0) edges.push_back({i - 1, i});
    }
    problem = tiny(plain_devices(3), ops, edges, 1);
    units = make_grouping(problem, GroupingKind::colocation);
    start.device.assign(length, 0);
  }
  Problem problem;
  Grouping units;
  Placement start;
};

TEST(RegionRuin, ChangesOnlyUnitsOfTheRegionWhichAreDifferentAndNotTooMany) {
  const Chain chain(40);
  RegionRuin regions(chain.problem, chain.units);
  Stream random({.seed = 1});
  const std::vector<std::uint32_t> critical = {7, 8, 9};
  std::size_t changed_draws = 0;
  for (const Region region : {Region::neighbours, Region::path})
    for (const Change change : {Change::gather, Change::exchange, Change::scatter})
      for (int draw = 0; draw < 50; ++draw) {
        Placement placement = chain.start;
        for (std::size_t op = 0; op < placement.device.size(); ++op)
          placement.device[op] = static_cast<std::uint8_t>(random.below(3));
        const Placement before = placement;
        const auto drawn = regions.ruin(placement, critical, {region, change, 8}, random);
        const std::set<std::uint32_t> units(drawn.begin(), drawn.end());
        EXPECT_EQ(units.size(), drawn.size());
        EXPECT_LE(units.size(), 8U);
        changed_draws += drawn.empty() ? 0 : 1;
        EXPECT_EQ(placement == before, drawn.empty());
        for (std::uint32_t op = 0; op < 40; ++op) {
          const bool in_region = units.contains(chain.units.unit_of_op[op]);
          EXPECT_TRUE(in_region || placement.device[op] == before.device[op]);
        }
      }
  EXPECT_GT(changed_draws, 100U);
}

TEST(RegionRuin, GathersARegionOnOneDevice) {
  const Chain chain(40);
  RegionRuin regions(chain.problem, chain.units);
  Stream random({.seed = 2});
  int gathered = 0;
  for (int draw = 0; draw < 100; ++draw) {
    Placement placement = chain.start;
    for (std::uint8_t& device : placement.device) device = static_cast<std::uint8_t>(random.below(3));
    const Placement before = placement;
    const auto drawn = regions.ruin(placement, {}, {Region::neighbours, Change::gather, 24}, random);
    std::set<std::uint8_t> devices, devices_before;
    for (const std::uint32_t unit : drawn) {
      devices.insert(placement.device[chain.units.members[unit].front()]);
      devices_before.insert(before.device[chain.units.members[unit].front()]);
    }
    EXPECT_EQ(devices.size(), drawn.empty() ? 0U : 1U);
    gathered += devices_before.size() == 3 ? 1 : 0;
  }
  EXPECT_GT(gathered, 50) << "regions of 24 ops at most, most of which were on all three devices";
}

TEST(RegionRuin, ExchangesTheDevicesOfARegion) {
  const Chain chain(2);
  RegionRuin regions(chain.problem, chain.units);
  Stream random({.seed = 3});
  bool exchanged = false;
  for (int draw = 0; draw < 100; ++draw) {
    Placement placement{{0, 1}, {}};
    regions.ruin(placement, {}, {Region::neighbours, Change::exchange, 8}, random);
    exchanged |= placement.device == std::vector<std::uint8_t>{1, 0};
  }
  EXPECT_TRUE(exchanged);
}

TEST(RegionRuin, LeavesUnitsThatRunOnOneDeviceAlone) {
  const Problem pinned = tiny(plain_devices(2), {{"a", {no, 2}}, {"b", {1, no}}}, {{0, 1}}, 1);
  const Grouping units = make_grouping(pinned, GroupingKind::colocation);
  RegionRuin regions(pinned, units);
  Stream random({.seed = 4});
  Placement placement{{1, 0}, {}};
  for (const Change change : {Change::gather, Change::exchange, Change::scatter})
    for (int draw = 0; draw < 20; ++draw)
      EXPECT_TRUE(regions.ruin(placement, {}, {Region::path, change, 8}, random).empty());
  EXPECT_THAT(placement.device, ::testing::ElementsAre(1, 0));
}

TEST(RuinChoice, DrawsAKindThatHelpsMoreOften) {
  RuinChoice choice;
  Stream random({.seed = 5});
  const std::size_t good = choice.draw(random);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t kind = choice.draw(random);
    choice.report(kind, kind == good);
  }
  int drawn = 0;
  for (int i = 0; i < 1000; ++i) drawn += choice.draw(random) == good ? 1 : 0;
  EXPECT_GT(drawn, 500);  // 56 if all 18 kinds were drawn equally often
}

}  // namespace
}  // namespace emplace::search::ruined_region_test
