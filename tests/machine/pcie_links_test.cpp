// Links of unlike speed below one host, and the routes between devices that follow from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "emplace/machine/machine.hpp"
#include "tests/machine/questions.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::machine::pcie_links_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string devices = device_toml("cpu") + device_toml("fast") + device_toml("slow", "count = 2\n");
const std::string topology = "[[topology]]\nkind = \"pcie-links\"\nname = \"pcie\"\nhost = \"cpu\"\n";
const std::string links =
    "links = [{ devices = [\"fast\"], latency_s = 1e-5, bytes_per_s = 2.5e10 },\n"
    "{ devices = [\"slow\"], latency_s = 2e-5, bytes_per_s = 6e9 }]\n";
const std::string name = "name = \"m\"\n";

TEST(PcieLinks, EachDeviceHasTheFiguresOfItsOwnLink) {
  const Machine machine = parse_machine(name + devices + topology + links, "m");
  EXPECT_EQ(channel(machine, "pcie:fast:from-host").bytes_per_s, 2.5e10);
  EXPECT_EQ(channel(machine, "pcie:slow:1:to-host").bytes_per_s, 6e9);
  EXPECT_EQ(channel(machine, "pcie:slow:1:to-host").latency_s, 2e-5);
  EXPECT_THAT(route(machine, "cpu", "fast"), ElementsAre("pcie:fast:from-host"));
  EXPECT_THAT(route(machine, "slow:0", "cpu"), ElementsAre("pcie:slow:0:to-host"));
  EXPECT_EQ(machine.routes.size(), 4U * 3);
}

TEST(PcieLinks, ACopyBetweenDevicesGoesThroughTheHostWithoutARouteOfItsOwn) {
  const Machine machine = parse_machine(name + devices + topology + links, "m");
  EXPECT_THAT(route(machine, "fast", "slow:1"), ElementsAre("pcie:fast:to-host", "pcie:slow:1:from-host"));
  EXPECT_THAT(route(machine, "slow:1", "slow:0"), ElementsAre("pcie:slow:1:to-host", "pcie:slow:0:from-host"));
  const Machine apart = parse_machine(name + devices + topology + "peers = false\n" + links, "m");
  EXPECT_THAT(route(apart, "fast", "slow:1"), IsEmpty());
  EXPECT_EQ(apart.routes.size(), 2U * 3);
}

TEST(PcieLinks, EachOfSeveralHostsHasItsOwn) {
  const Machine machine =
      parse_machine(name + "[hosts]\ncount = 2\nlatency_s = 0\nbytes_per_s = 1\n" + devices + topology + links, "m");
  EXPECT_THAT(route(machine, "host1/fast", "host1/slow:0"),
              ElementsAre("host1/pcie:host1/fast:to-host", "host1/pcie:host1/slow:0:from-host"));
  EXPECT_THAT(route(machine, "host0/fast", "host1/fast"), ElementsAre("network:0:egress", "network:1:ingress"));
}

TEST(PcieLinks, BadLinksAreRefused) {
  const auto error = [](const std::string& text) { return error_of(name + devices + topology + text); };
  EXPECT_THAT(error(""), HasSubstr("'links' must list at least one link"));
  EXPECT_THAT(error("links = [{ devices = [\"fast\"], latency_s = 0, bytes_per_s = 1 }, { devices = [\"fast\"], "
                    "latency_s = 0, bytes_per_s = 1 }]\n"),
              HasSubstr("device 'fast' is on two links"));
  EXPECT_THAT(error("links = [{ devices = [\"fats\"], latency_s = 0, bytes_per_s = 1 }]\n"), HasSubstr("'fast'"));
  EXPECT_THAT(error("links = [{ devices = [\"cpu\"], latency_s = 0, bytes_per_s = 1 }]\n"),
              HasSubstr("a route joins two different devices"));
  EXPECT_THAT(error("links = [{ devices = [\"fast\"], latency_s = 0, bytes_per_s = 0 }]\n"), HasSubstr("above zero"));
  EXPECT_THAT(error("links = [{ devices = [\"fast\"], latency_s = 0, bytes_per_s = 1, lanes = 4 }]\n"),
              HasSubstr("'lanes'"));
  EXPECT_THAT(error(links + "bytes_per_s = 1\n"), HasSubstr("'bytes_per_s'"));
}

// A machine that a user describes can be calibrated: the file is written again with its links.
TEST(PcieLinks, StayInAFileThatCalibrationWrites) {
  const test::TemporaryFolder folder;
  write_file(folder / "m.toml", name + devices + topology + links);
  const Machine given = load_machine(folder / "m.toml");
  const Machine again = parse_machine(refitted_machine_toml(folder / "m.toml", given.devices[1], "mine"), "m");
  EXPECT_EQ(route(again, "fast", "slow:1"), route(given, "fast", "slow:1"));
  EXPECT_EQ(channel(again, "pcie:slow:0:to-host").bytes_per_s, 6e9);
}

}  // namespace
}  // namespace emplace::machine::pcie_links_test
