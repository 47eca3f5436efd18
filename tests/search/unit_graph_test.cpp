#include "search/partition/unit_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/problem/tiny.hpp"

namespace emplace::search::unit_graph_test {
namespace {

using namespace test;
using ::testing::ElementsAre;

const std::vector<std::uint8_t> both = {1, 1};

TEST(UnitGraph, WeighsAnEdgeByAllThatBothUnitsExchange) {
  // a feeds b1 and b2, which are one unit: one tensor, sent once. b2 feeds c; c has no consumers. Transfers take 2 ms.
  const Problem p = tiny(plain_devices(2), {{"a", {1, 1}}, {"b1", {1, 1}, "b"}, {"b2", {1, 1}, "b"}, {"c", {1, 1}}},
                         {{0, 1}, {0, 2}, {2, 3}}, 2);
  const UnitGraph graph = make_unit_graph(p, Units(p).grouping);
  EXPECT_THAT(graph.begin, ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(graph.neighbour, ElementsAre(1, 0, 2, 1));
  EXPECT_THAT(graph.weight, ElementsAre(2.0 * ms, 2.0 * ms, 2.0 * ms, 2.0 * ms));
}

TEST(UnitGraph, AddsUpTensorsOfBothDirections) {
  // {a, c} and {b}: a -> b and b -> c.
  const Problem p =
      tiny(plain_devices(2), {{"a", {1, 1}, "g"}, {"b", {1, 1}}, {"c", {1, 1}, "g"}}, {{0, 1}, {1, 2}}, 3);
  const UnitGraph graph = make_unit_graph(p, Units(p).grouping);
  EXPECT_THAT(graph.neighbour, ElementsAre(1, 0));
  EXPECT_THAT(graph.weight, ElementsAre(6.0 * ms, 6.0 * ms));
}

TEST(UnitGraph, HasARowForUnitsWithoutNeighbours) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}, {"c", {1, 1}}}, {{0, 1}}, 1);
  EXPECT_THAT(make_unit_graph(p, Units(p).grouping).begin, ElementsAre(0, 1, 2, 2));
}

TEST(Processors, AreAsFastAsTheBestDevicesWouldNeedForWhatTheyRun) {
  // Least times 1, 2, 8. Device 0 needs 1 + 4 + 8 for that work of 11; device 1 cannot run c and needs 3 + 2 for 3.
  const Problem p = tiny(plain_devices(2), {{"a", {1, 3}}, {"b", {4, 2}}, {"c", {8, no}}}, {}, 1);
  const Processors processors = make_processors(p, Units(p), both);
  EXPECT_THAT(processors.work, ElementsAre(1.0 * ms, 2.0 * ms, 8.0 * ms));
  EXPECT_DOUBLE_EQ(processors.speed[0], 11.0 / 13);
  EXPECT_DOUBLE_EQ(processors.speed[1], 3.0 / 5);
}

TEST(Processors, LeaveOutDevicesThatCanRunNothing) {
  const Problem p = tiny(plain_devices(3), {{"a", {1, no, 1}}, {"b", {1, no, no}}}, {});
  EXPECT_THAT(make_processors(p, Units(p), std::vector<std::uint8_t>{1, 1, 1}).device, ElementsAre(0, 2));
  EXPECT_THAT(make_processors(p, Units(p), std::vector<std::uint8_t>{0, 1, 0}).device, ElementsAre());
}

TEST(Processors, AreAsFarApartAsTransfersLastInTheMeanOfBothWays) {
  // 0 <-> 1: 1 s and 3 s, 1 -> 2: 8 s one way only, 0 and 2: no route.
  ProblemBuilder builder("three");
  for (const char* name : {"x", "y", "z"}) builder.add_device({name, "gpu"});
  const auto route = [&](std::size_t from, std::size_t to, double seconds) {
    const std::string name = std::to_string(from) + ">" + std::to_string(to);
    builder.add_route(DeviceId{from}, DeviceId{to}, {builder.add_channel({name, seconds, 1e30})});
  };
  route(0, 1, 1);
  route(1, 0, 3);
  route(1, 2, 8);
  const OpId a = builder.add_op({.name = "a", .type = "", .seconds = {1, 1, 1}, .colocate = ""});
  const OpId b = builder.add_op({.name = "b", .type = "", .seconds = {1, 1, 1}, .colocate = ""});
  builder.add_tensor(a, 0, {b});
  const Problem p = builder.build();
  EXPECT_THAT(make_processors(p, Units(p), std::vector<std::uint8_t>{1, 1, 1}).distance,
              ElementsAre(0, 1, 40, 1, 0, 4, 40, 4, 0));
}

TEST(Processors, AreEquallyFarApartWhereNothingIsEverSent) {
  const Problem p = tiny(plain_devices(2), {{"a", {1, 1}}, {"b", {1, 1}}}, {}, 1);
  EXPECT_THAT(make_processors(p, Units(p), both).distance, ElementsAre(0, 1, 1, 0));
}

TEST(Settle, SendsWhatCannotRunThereToTheDeviceThatWouldEndFirst) {
  // All wanted on device 0. c and d cannot: c goes to 2 (3 < 5), then d to 1 (5 < 3 + 4).
  const Problem p =
      tiny(plain_devices(3), {{"a", {9, 1, 1}}, {"b", {9, 1, 1}}, {"c", {no, 5, 3}}, {"d", {no, 5, 4}}}, {});
  const Units units(p);
  const Processors processors = make_processors(p, units, std::vector<std::uint8_t>{1, 1, 1});
  EXPECT_THAT(settle(units, processors, std::vector<std::uint32_t>{0, 0, 0, 0}), ElementsAre(0, 0, 2, 1));
}

TEST(Settle, LeavesTheUsableDevicesOnlyWhereNoneOfThemCan) {
  // Devices 0 and 1 are usable, 2 is idle and fast. b cannot run on 0 but on 1, c on neither.
  const Problem p =
      tiny(plain_devices(3), {{"a", {1, 1, 1}}, {"b", {no, 9, 1}}, {"c", {no, no, 1}}, {"d", {1, 9, 1}}}, {});
  const Units units(p);
  const Processors processors = make_processors(p, units, std::vector<std::uint8_t>{1, 1, 0});
  EXPECT_THAT(settle(units, processors, std::vector<std::uint32_t>{1, 0, 0, 0}), ElementsAre(1, 1, 2, 0));
}

TEST(Scaled, KeepsProportionsAndMakesEverythingAtLeastOne) {
  EXPECT_THAT(scaled(std::vector<double>{1e300, 3e300, 0, 1}, 1000), ElementsAre(250, 750, 1, 1));
  EXPECT_THAT(scaled(std::vector<double>{0, 0}, 1000), ElementsAre(1, 1));
}

}  // namespace
}  // namespace emplace::search::unit_graph_test
