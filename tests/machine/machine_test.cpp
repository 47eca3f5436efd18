#include "emplace/machine/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/files.hpp"
#include "tests/machine/questions.hpp"

namespace emplace::machine::machine_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::vector<std::string> device_names(const Machine& machine) {
  std::vector<std::string> names;
  for (const MachineDevice& device : machine.devices) names.push_back(device.name);
  return names;
}

TEST(Machine, TheExampleOfTheReadmeParsesAsItSays) {
  const std::string readme = read_file("configs/machines/README.md");
  const std::size_t begin = readme.find("```toml\n") + 8;
  const Machine machine = parse_machine(readme.substr(begin, readme.find("```", begin) - begin), "README.md");
  EXPECT_EQ(machine.name, "workstation");
  EXPECT_THAT(device_names(machine), ElementsAre("cpu", "gpu:0", "gpu:1"));
  EXPECT_EQ(machine.devices[0].memory_bytes, Bytes{64} << 30);
  EXPECT_EQ(machine.devices[1].memory_bytes, Bytes{12} << 30);
  EXPECT_EQ(machine.devices[1].launch_overhead_s, 5e-6);
  EXPECT_THAT(machine.devices[1].unsupported, ElementsAre("StringNormalizer"));
  EXPECT_THAT(machine.devices[0].peak_flops,
              UnorderedElementsAre(Pair("f32", 1e12), Pair("f64", 5e11), Pair("default", 2.5e11)));
  EXPECT_THAT(machine.devices[2].efficiency,
              UnorderedElementsAre(Pair("matmul", 0.7), Pair("convolution", 0.6), Pair("default", 0.1)));
  EXPECT_THAT(route(machine, "cpu", "gpu:1"), ElementsAre("pcie-switch:gpu:1:from-host"));
  EXPECT_THAT(route(machine, "gpu:0", "cpu"), ElementsAre("pcie-switch:gpu:0:to-host"));
  EXPECT_THAT(route(machine, "gpu:0", "gpu:1"), ElementsAre("bridge"));
  EXPECT_THAT(route(machine, "gpu:1", "gpu:0"), ElementsAre("bridge"));
  EXPECT_EQ(machine.routes.size(), 6u);
}

TEST(Machine, MemoryReadsBinaryAndDecimalUnits) {
  const auto memory = [](const std::string& text) {
    std::string toml = "name = \"m\"\n" + device_toml("cpu");
    toml.replace(toml.find("1 GiB"), 5, text);
    return parse_machine(toml, "m.toml").devices[0];
  };
  EXPECT_EQ(memory("12 GiB").memory_bytes, 12884901888);
  EXPECT_EQ(memory("12 GB").memory_bytes, 12000000000);
  EXPECT_EQ(memory("1.5TiB").memory_bytes, 1649267441664);
  EXPECT_EQ(memory("3 kB").memory_bytes, 3000);
  EXPECT_EQ(memory("7 B").memory_bytes, 7);
  EXPECT_TRUE(memory("7 B").memory_limited);
  EXPECT_FALSE(memory("unlimited").memory_limited);
}

TEST(Machine, ADevicesNameMeansAllOfItsCountAndCountOneStillGetsANumber) {
  const Machine machine =
      parse_machine("name = \"m\"\n" + device_toml("cpu", "count = 1\n") + device_toml("gpu", "count = 3\n") +
                        "[[channel]]\nname = \"bus\"\nlatency_s = 0\nbytes_per_s = 1\ncontention = "
                        "false\nserves = [\"gpu -> gpu\", \"cpu -> gpu\"]\n",
                    "m.toml");
  EXPECT_THAT(device_names(machine), ElementsAre("cpu:0", "gpu:0", "gpu:1", "gpu:2"));
  EXPECT_EQ(machine.routes.size(), 6u + 3u);  // 3 x 2 ordered pairs among the GPUs, 3 from the CPU
  EXPECT_FALSE(machine.channels[0].contention);
  EXPECT_TRUE(route(machine, "gpu:0", "cpu:0").empty());
}

TEST(Machine, PcieSwitchHasOneCopyStreamADirection) {
  const std::string topology =
      "[[topology]]\nkind = \"pcie-switch\"\nname = \"p\"\nhost = \"cpu\"\ndevices = [\"gpu\"]\nlatency_s = "
      "1e-5\nbytes_per_s = 2e9\n";
  const std::string devices = "name = \"m\"\n" + device_toml("cpu") + device_toml("gpu", "count = 3\n");
  const Machine machine = parse_machine(devices + topology, "m.toml");
  EXPECT_EQ(machine.routes.size(), 12u);   // all ordered pairs of 4 devices
  EXPECT_EQ(machine.channels.size(), 9u);  // three a GPU
  EXPECT_THAT(route(machine, "gpu:0", "gpu:2"), ElementsAre("p:gpu:0:to-peers"));
  EXPECT_THAT(route(machine, "gpu:0", "gpu:1"), ElementsAre("p:gpu:0:to-peers"));
  EXPECT_EQ(channel(machine, "p:gpu:0:to-peers").bytes_per_s, 2e9);
  EXPECT_EQ(channel(machine, "p:gpu:0:from-host").latency_s, 1e-5);

  const Machine uplink = parse_machine(devices + topology + "peers = false\nuplink_bytes_per_s = 1e9\n", "m.toml");
  EXPECT_EQ(uplink.routes.size(), 6u);
  EXPECT_THAT(route(uplink, "cpu", "gpu:1"), ElementsAre("p:uplink:down", "p:gpu:1:from-host"));
  EXPECT_THAT(route(uplink, "gpu:1", "cpu"), ElementsAre("p:gpu:1:to-host", "p:uplink:up"));
  EXPECT_TRUE(route(uplink, "gpu:0", "gpu:1").empty());
  EXPECT_EQ(channel(uplink, "p:uplink:up").latency_s, 0);
  EXPECT_EQ(channel(uplink, "p:uplink:up").bytes_per_s, 1e9);
}

TEST(Machine, NvlinkJoinsAllOrderedPairsWithChannelsOfTheirOwn) {
  const Machine machine = parse_machine(
      "name = \"m\"\n" + device_toml("gpu", "count = 4\n") +
          "[[topology]]\nkind = \"nvlink\"\ndevices = [\"gpu\"]\nlatency_s = 2e-6\nbytes_per_s = 2.5e10\n",
      "m.toml");
  EXPECT_EQ(machine.routes.size(), 12u);
  EXPECT_EQ(machine.channels.size(), 12u);
  EXPECT_THAT(route(machine, "gpu:3", "gpu:0"), ElementsAre("nvlink:gpu:3-to-gpu:0"));
}

TEST(Machine, EthernetRoutesHoldTheSendersEgressAndTheReceiversIngress) {
  const Machine machine = parse_machine(
      "name = \"m\"\n" + device_toml("a", "count = 2\n") + device_toml("b", "count = 2\n") +
          "[[topology]]\nkind = \"ethernet\"\nlatency_s = 3e-5\nbytes_per_s = 3e9\nhosts = [{ devices = [\"a\"] }, { "
          "devices = [\"b:0\", \"b:1\"] }]\n",
      "m.toml");
  EXPECT_EQ(machine.channels.size(), 4u);
  EXPECT_EQ(machine.routes.size(), 8u);  // 2 x 2 each way, none inside a host
  EXPECT_THAT(route(machine, "a:1", "b:0"), ElementsAre("ethernet:0:egress", "ethernet:1:ingress"));
  EXPECT_THAT(route(machine, "b:0", "a:0"), ElementsAre("ethernet:1:egress", "ethernet:0:ingress"));
  EXPECT_TRUE(route(machine, "a:0", "a:1").empty());
  EXPECT_EQ(channel(machine, "ethernet:0:egress").latency_s, 3e-5);
  EXPECT_EQ(channel(machine, "ethernet:1:ingress").latency_s, 0);  // counted once on the route
}

TEST(Machine, ARouteStringsChannelsTogetherInTheOrderTravelled) {
  const Machine machine = parse_machine("name = \"m\"\n" + device_toml("a") + device_toml("b") +
                                            "[[channel]]\nname = \"x\"\nlatency_s = 1\nbytes_per_s = 1\n"
                                            "[[channel]]\nname = \"y\"\nlatency_s = 1\nbytes_per_s = 1\n"
                                            "[[route]]\nchannels = [\"y\", \"x\"]\nserves = [\"a->b\"]\n",
                                        "m.toml");
  EXPECT_THAT(route(machine, "a", "b"), ElementsAre("y", "x"));
}

TEST(Machine, ExtendingAPresetReplacesKeyByKeyAndAddsNewNames) {
  const Machine base = load_machine("k40x2");
  const Machine machine = parse_machine(
      "name = \"mine\"\nextends = \"k40x2\"\n"
      "[[device]]\nname = \"gpu\"\nmemory_bytes = 1000\n[device.efficiency]\nmatmul = 0.9\n" +
          device_toml("npu") + "[[topology]]\nname = \"pcie\"\nlatency_s = 7e-6\n" +
          "[[channel]]\nname = \"npu-in\"\nlatency_s = 0\nbytes_per_s = 5\nserves = [\"cpu:0 -> npu\"]\n",
      "m.toml");
  EXPECT_EQ(machine.name, "mine");
  EXPECT_THAT(device_names(machine), ElementsAre("cpu:0", "gpu:0", "gpu:1", "npu"));
  EXPECT_EQ(machine.devices[1].memory_bytes, 1000);
  EXPECT_EQ(machine.devices[1].peak_flops, base.devices[1].peak_flops);
  EXPECT_EQ(machine.devices[2].efficiency.at("matmul"), 0.9);
  EXPECT_EQ(machine.devices[2].efficiency.at("default"), base.devices[2].efficiency.at("default"));
  EXPECT_EQ(channel(machine, "pcie:gpu:1:to-host").latency_s, 7e-6);
  EXPECT_EQ(channel(machine, "pcie:gpu:1:to-host").bytes_per_s, channel(base, "pcie:gpu:1:to-host").bytes_per_s);
  EXPECT_THAT(route(machine, "cpu:0", "npu"), ElementsAre("npu-in"));
}

TEST(Presets, EveryEntryLoadsItsExampleAndEveryFileHasAnEntry) {
  std::set<std::string> listed;
  for (const MachineEntry& entry : machines()) {
    EXPECT_TRUE(listed.insert(entry.name).second) << entry.name;
    EXPECT_FALSE(entry.summary.empty());
    EXPECT_FALSE(entry.reference.empty());
    EXPECT_EQ(load_machine(entry.example).name, entry.example);
  }
  std::set<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator("configs/machines"))
    if (file.path().extension() == ".toml") files.insert(file.path().stem());
  EXPECT_EQ(listed.erase("drawn-SEED"), 1);  // drawn, not described by a file
  EXPECT_EQ(listed, files);
}

TEST(Presets, K40xNHasOneHostAndNGpusJoinedInAllDirections) {
  for (const std::size_t n : {1u, 2u, 8u, 64u}) {
    const Machine machine = load_machine("k40x" + std::to_string(n));
    EXPECT_EQ(machine.name, "k40x" + std::to_string(n));
    ASSERT_EQ(machine.devices.size(), n + 1);
    EXPECT_EQ(machine.devices[0].name, "cpu:0");
    EXPECT_EQ(machine.devices[n].name, "gpu:" + std::to_string(n - 1));
    EXPECT_EQ(machine.devices[n].memory_bytes, Bytes{12} << 30);
    EXPECT_EQ(machine.devices[n].peak_flops.at("f32"), 4.29e12);
    EXPECT_EQ(machine.routes.size(), (n + 1) * n);
  }
}

TEST(Presets, LaptopHasOneGpuWithEightGibibytes) {
  const Machine machine = load_machine("laptop");
  EXPECT_THAT(device_names(machine), ElementsAre("cpu:0", "gpu:0"));
  EXPECT_EQ(machine.devices[1].memory_bytes, Bytes{8} << 30);
  EXPECT_EQ(machine.routes.size(), 2u);
}

TEST(Presets, AFileIsLoadedByItsPath) {
  const std::string path = ::testing::TempDir() + "emplace_machine_test.toml";
  write_file(path, "name = \"filed\"\n" + device_toml("cpu"));
  EXPECT_EQ(load_machine(path).name, "filed");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace emplace::machine::machine_test
