// What every preset must satisfy, whatever it describes; and the parts that families and hosts are made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"
#include "tests/machine/questions.hpp"

namespace emplace::machine::presets_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class EveryPreset : public ::testing::TestWithParam<std::string> {
 protected:
  const Machine machine = load_machine(GetParam());
};

std::vector<std::string> examples() {
  std::vector<std::string> names;
  for (const MachineEntry& entry : machines()) names.push_back(entry.example);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Machines, EveryPreset, ::testing::ValuesIn(examples()), [](const auto& preset) {
  std::string name = preset.param;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
});

TEST_P(EveryPreset, JoinsEveryOrderedPairOfDevices) {
  const std::size_t n = machine.devices.size();
  std::set<std::pair<std::size_t, std::size_t>> joined;
  for (const MachineRoute& route : machine.routes) joined.emplace(route.from, route.to);
  EXPECT_EQ(joined.size(), n * (n - 1));
  EXPECT_EQ(machine.routes.size(), n * (n - 1));
}

TEST_P(EveryPreset, GivesFiguresWithinWhatHardwareOfOurTimeDoes) {
  for (const MachineDevice& device : machine.devices) {
    SCOPED_TRACE(device.name);
    EXPECT_TRUE(device.peak_flops.contains("f32"));
    EXPECT_TRUE(device.peak_flops.contains("default"));  // so that a graph in any number type can be costed
    for (const auto& [dtype, peak] : device.peak_flops) {
      EXPECT_GE(peak, 1e10) << dtype;  // a small mobile core
      EXPECT_LE(peak, 1e16) << dtype;  // beyond any single accelerator
    }
    EXPECT_LE(device.peak_flops.at("default"), device.peak_flops.at("f32"));
    EXPECT_GE(device.memory_bytes, Bytes{1} << 30);
    EXPECT_LE(device.memory_bytes, Bytes{4} << 40);
    EXPECT_GE(device.memory_bytes_per_s, 1e9);
    EXPECT_LE(device.memory_bytes_per_s, 1e13);
    EXPECT_GE(device.launch_overhead_s, 1e-7);
    EXPECT_LE(device.launch_overhead_s, 1e-3);
  }
  for (const MachineChannel& channel : machine.channels) {
    EXPECT_GE(channel.bytes_per_s, 1e8) << channel.name;
    EXPECT_LE(channel.bytes_per_s, 1e12) << channel.name;
    // Presets that describe a framework's transfers (tf1-) have what it adds, too.
    EXPECT_LE(channel.latency_s, GetParam().starts_with("tf1-") ? 1e-2 : 1e-3) << channel.name;
  }
}

// What efficiency and half size imply must stay below the peak and above a thousandth of it for ops of 10 GFLOP.
TEST_P(EveryPreset, PromisesNoMoreThanThePeakAndNoUselessDevice) {
  for (const MachineDevice& device : machine.devices) {
    SCOPED_TRACE(device.name);
    const auto figure = [](const auto& table, const std::string& cls, double neither) {
      if (table.contains(cls)) return table.at(cls);
      return table.contains("default") ? table.at("default") : neither;
    };
    for (const std::string& cls : machine_op_classes()) {
      const double limit = figure(device.efficiency, cls, 1);
      const double reached = limit * 1e10 / (1e10 + figure(device.half_flops, cls, 0));
      EXPECT_LE(limit, 1) << cls;
      EXPECT_GE(reached, 1e-3) << cls;
    }
    EXPECT_GE(figure(device.efficiency, "matmul", 0), figure(device.efficiency, "default", 0));
  }
}

TEST_P(EveryPreset, MovesDataNoFasterBetweenDevicesThanWithinTheFasterOfThem) {
  for (const MachineRoute& route : machine.routes)
    for (const std::size_t channel : route.channels)
      EXPECT_LE(machine.channels[channel].bytes_per_s,
                std::max(machine.devices[route.from].memory_bytes_per_s, machine.devices[route.to].memory_bytes_per_s))
          << machine.channels[channel].name;
}

TEST(Families, ANameGivesEachNumberItsPlace) {
  EXPECT_EQ(load_machine("h100-x8").devices.size(), 9u);
  EXPECT_EQ(load_machine("v100-nvlink-x2").devices.size(), 3u);
  const Machine cluster = load_machine("cluster-3x2");
  EXPECT_EQ(cluster.name, "cluster-3x2");
  ASSERT_EQ(cluster.devices.size(), 3u * (1 + 2));
  EXPECT_EQ(cluster.devices[4].name, "host1/gpu:0");
  EXPECT_EQ(cluster.devices[8].name, "host2/gpu:1");
}

TEST(Families, NumbersOutOfBoundsAreRefusedByTheirLetter) {
  const auto message = [](const char* name) {
    try {
      load_machine(name);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message("cluster-0x8"), "the H of machine 'cluster-HxG' must be a whole number from 1 to 64, got '0'");
  EXPECT_EQ(message("cluster-2x65"), "the G of machine 'cluster-HxG' must be a whole number from 1 to 64, got '65'");
  EXPECT_THAT(message("cluster-Hx4"), HasSubstr("the H of machine 'cluster-HxG'"));
  EXPECT_THAT(message("cluster-64x64"), HasSubstr("more than 255 devices"));
  EXPECT_THAT(message("cluster-2"), AllOf(HasSubstr("unknown machine"), HasSubstr("did you mean 'cluster-2x4'?")));
  EXPECT_THAT(message("cluster-2x4x4"), HasSubstr("unknown machine 'cluster-2x4x4'"));
}

TEST(Switch, ATransferHoldsTheSendersPortOutAndTheReceiversPortIn) {
  const Machine machine = load_machine("h100-x4");
  EXPECT_THAT(route(machine, "gpu:2", "gpu:0"), ElementsAre("nvswitch:gpu:2:out", "nvswitch:gpu:0:in"));
  EXPECT_THAT(route(machine, "gpu:2", "cpu:0"), ElementsAre("pcie:gpu:2:to-host"));
  double latency = 0;
  for (const MachineChannel& channel : machine.channels)
    if (channel.name == "nvswitch:gpu:2:out" || channel.name == "nvswitch:gpu:0:in") latency += channel.latency_s;
  EXPECT_EQ(latency, 1e-5);  // counted once
  EXPECT_EQ(load_machine("h100-x1").routes.size(), 2u);
}

TEST(Hosts, EachHasADescriptionOfItsOwnAndAllMeetOnTheNetwork) {
  const Machine machine = load_machine("two-hosts");
  ASSERT_EQ(machine.devices.size(), 10u);
  EXPECT_EQ(machine.devices[0].name, "host0/cpu:0");
  EXPECT_EQ(machine.devices[9].name, "host1/gpu:3");
  EXPECT_THAT(route(machine, "host0/gpu:1", "host0/gpu:2"), ElementsAre("host0/nvlink:host0/gpu:1-to-host0/gpu:2"));
  EXPECT_THAT(route(machine, "host1/cpu:0", "host1/gpu:0"), ElementsAre("host1/pcie:host1/gpu:0:from-host"));
  EXPECT_THAT(route(machine, "host0/gpu:1", "host1/gpu:2"), ElementsAre("ethernet:0:egress", "ethernet:1:ingress"));
  EXPECT_THAT(route(machine, "host1/cpu:0", "host0/gpu:2"), ElementsAre("ethernet:1:egress", "ethernet:0:ingress"));
  // All pairs of two hosts share the NICs, whose 25 Gbit/s are 3.125 GB/s before headers.
  EXPECT_EQ(route(machine, "host0/gpu:1", "host1/gpu:2"), route(machine, "host0/cpu:0", "host1/gpu:0"));
  for (const char* name : {"ethernet:0:egress", "ethernet:1:ingress"}) {
    EXPECT_TRUE(channel(machine, name).contention);
    EXPECT_LT(channel(machine, name).bytes_per_s, 25e9 / 8);
    EXPECT_GT(channel(machine, name).bytes_per_s, 0.9 * 25e9 / 8);
  }
}

const std::string host = device_toml("a", R"(count = 2
[[channel]]
name = "bus"
latency_s = 0
bytes_per_s = 1e9
serves = ["a:0->a:1", "a:1 ->  a:0"]
)");

TEST(Hosts, NamesInChannelsAndArrowsAreThoseOfTheHost) {
  const Machine machine =
      parse_machine("name = \"m\"\n[hosts]\ncount = 3\nlatency_s = 0\nbytes_per_s = 1\n" + host, "m");
  EXPECT_EQ(machine.devices.size(), 6u);
  EXPECT_THAT(route(machine, "host1/a:1", "host1/a:0"), ElementsAre("host1/bus"));
  EXPECT_THAT(route(machine, "host2/a:1", "host0/a:0"), ElementsAre("network:2:egress", "network:0:ingress"));
  const Machine single =
      parse_machine("name = \"m\"\n[hosts]\ncount = 1\nlatency_s = 0\nbytes_per_s = 1\n" + host, "m");
  EXPECT_EQ(single.routes.size(), 2u);
}

TEST(Hosts, BadFiguresAreRefusedByLine) {
  const auto error_of_hosts = [](const std::string& lines) { return error_of("name = \"m\"\n" + host + lines); };
  EXPECT_EQ(error_of_hosts("[hosts]\ncount = 0\nlatency_s = 0\nbytes_per_s = 1\n"),
            "m.toml:16: [hosts] needs 'count', from 1 to 255, got 0");
  EXPECT_THAT(error_of_hosts("[hosts]\nlatency_s = 0\nbytes_per_s = 1\n"), HasSubstr("needs 'count'"));
  EXPECT_THAT(error_of_hosts("[hosts]\ncount = 2\nlatency_s = 0\n"), HasSubstr("'bytes_per_s' is missing"));
  EXPECT_THAT(error_of_hosts("[hosts]\ncount = 2\nlatency_s = 0\nbytes_per_s = 1\nlink = 2\n"), HasSubstr("'link'"));
  EXPECT_THAT(error_of_hosts("[hosts]\ncount = 200\nlatency_s = 0\nbytes_per_s = 1\n"),
              HasSubstr("more than 255 devices"));
  EXPECT_THAT(error_of("name = \"m\"\n[hosts]\ncount = 2\nlatency_s = 0\nbytes_per_s = 1\n[[device]]\nkind = \"x\"\n"),
              HasSubstr("'name'"));
}

TEST(DeviceFigures, SizesAndSharesByClassAreReadAndChecked) {
  const auto error_with = [](const std::string& line) {
    return error_of("name = \"m\"\n[[device]]\n" + line + host.substr(host.find('\n') + 1));
  };
  EXPECT_EQ(error_with("half_flops = { matmul = 1e6, default = 0 }\n"), "no error");
  EXPECT_EQ(error_with("half_flops = { matmul = -1 }\n"), "m.toml:3: 'matmul' must be zero or more, got -1");
  EXPECT_THAT(error_with("half_bytes = { conv = 1 }\n"), HasSubstr("m.toml:3: unknown key 'conv'"));
  EXPECT_EQ(error_with("memory_efficiency = { pooling = 1.5 }\n"),
            "m.toml:3: the memory_efficiency of 'pooling' must be above 0 and at most 1 (a share of "
            "memory_bytes_per_s), got 1.5");
  EXPECT_EQ(error_with("fused_speedup = { convolution = 1.5, default = 0.9 }\n"), "no error");
  EXPECT_EQ(error_with("fused_speedup = { pooling = 0 }\n"), "m.toml:3: 'pooling' must be above zero, got 0");
  EXPECT_EQ(error_with("overlap = 1.1\n"), "m.toml:3: 'overlap' must be from 0 (none) to 1 (all), got 1.1");
  EXPECT_THAT(error_with("overlap = -0.5\n"), HasSubstr("m.toml:3: 'overlap' must be zero or more"));
}

}  // namespace
}  // namespace emplace::machine::presets_test
