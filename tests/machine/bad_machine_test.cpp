// Bad machine files: one sentence with file, line, what was found and what was wanted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"
#include "tests/machine/questions.hpp"

namespace emplace::machine::bad_machine_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Lines 1 to 10; what a test appends starts at line 11.
const std::string two_devices = R"(name = "pair"
[[device]]
name = "cpu"
kind = "cpu"
memory = "1 GiB"
memory_bytes_per_s = 1e9
peak_flops = { f32 = 1e9 }
efficiency = { default = 0.5 }
[[device]]
name = "gpu"
)";
const std::string gpu_rest = R"(kind = "gpu"
memory = "1 GiB"
memory_bytes_per_s = 1e9
peak_flops = { f32 = 1e9 }
efficiency = { default = 0.5 }
)";  // lines 11 to 15

// The pair of devices with more text at line 16.
std::string error_after_devices(const std::string& rest) { return error_of(two_devices + gpu_rest + rest); }

// One device with one of its lines replaced.
std::string error_of_device(const std::string& from, const std::string& to) {
  std::string text = R"(name = "one"
[[device]]
name = "cpu"
kind = "cpu"
count = 1
memory = "1 GiB"
memory_bytes_per_s = 1e9
launch_overhead_s = 1e-6
peak_flops = { f32 = 1e9 }
efficiency = { matmul = 0.5, default = 0.5 }
)";
  EXPECT_EQ(error_of(text), "no error");
  text.replace(text.find(from), from.size(), to);
  return error_of(text);
}

TEST(BadMachine, UnknownDeviceInAChannelNamesTheNearestOne) {
  EXPECT_EQ(
      error_after_devices("[[channel]]\nname = \"bus\"\nlatency_s = 0\nbytes_per_s = 1e9\nserves = [\"cpu -> gpo\"]\n"),
      "m.toml:20: there is no device 'gpo' (did you mean 'gpu'?)");
}

TEST(BadMachine, BandwidthOfAChannelMustBeAboveZero) {
  for (const char* value : {"0", "-5", "-1e9"})
    EXPECT_EQ(
        error_after_devices("[[channel]]\nname = \"bus\"\nlatency_s = 0\nbytes_per_s = " + std::string(value) + "\n"),
        "m.toml:19: 'bytes_per_s' must be above zero, got " +
            std::string(value == std::string("-1e9") ? "-1000000000" : value));
}

TEST(BadMachine, LatencyMustNotBeNegative) {
  EXPECT_EQ(error_after_devices("[[channel]]\nname = \"bus\"\nlatency_s = -1\nbytes_per_s = 1\n"),
            "m.toml:18: 'latency_s' must be zero or more, got -1");
}

TEST(BadMachine, MemoryBandwidthAndPeaksMustBeAboveZero) {
  EXPECT_EQ(error_of_device("memory_bytes_per_s = 1e9", "memory_bytes_per_s = 0"),
            "m.toml:7: 'memory_bytes_per_s' must be above zero, got 0");
  EXPECT_EQ(error_of_device("f32 = 1e9", "f32 = -2"), "m.toml:9: 'f32' must be above zero, got -2");
}

TEST(BadMachine, NumbersMustBeFinite) {
  for (const char* key : {"memory_bytes_per_s = 1e9", "launch_overhead_s = 1e-6", "f32 = 1e9", "matmul = 0.5"}) {
    const std::string line = key;
    const std::string name = line.substr(0, line.find(" ="));
    for (const char* value : {"inf", "-inf", "nan"})
      EXPECT_THAT(error_of_device(line, name + " = " + value),
                  AllOf(StartsWith("m.toml:"), HasSubstr("'" + name + "' must be finite")));
  }
}

TEST(BadMachine, EfficiencyMustLieAboveZeroAndAtMostOne) {
  EXPECT_EQ(error_of_device("matmul = 0.5", "matmul = 1.5"),
            "m.toml:10: the efficiency of 'matmul' must be above 0 and at most 1 (a share of the peak), got 1.5");
  EXPECT_EQ(error_of_device("matmul = 0.5", "matmul = 0"), "m.toml:10: 'matmul' must be above zero, got 0");
}

TEST(BadMachine, TwoOpTypesMayHaveAnEfficiencyOfTheirOwn) {
  EXPECT_EQ(error_of_device("matmul = 0.5", "\"ggml.mul_mat_id\" = 0.5"), "no error");
  EXPECT_EQ(error_of_device("matmul = 0.5", "\"ggml.tanh\" = 0.5"), "no error");
  EXPECT_THAT(error_of_device("matmul = 0.5", "\"ggml.mul_mat_ix\" = 0.5"),
              HasSubstr("did you mean 'ggml.mul_mat_id'?"));
  EXPECT_THAT(error_of_device("efficiency = {", "memory_efficiency = { \"ggml.mul_mat_id\" = 0.5 }\nefficiency = {"),
              HasSubstr("ggml.mul_mat_id"));
}

TEST(BadMachine, EfficiencyNeedsADefault) {
  EXPECT_THAT(error_of_device(", default = 0.5", ""),
              HasSubstr("m.toml:2: device 'cpu' needs efficiency = { default = ... }"));
}

TEST(BadMachine, UnknownKeysNameTheNearestRightOne) {
  EXPECT_EQ(error_of_device("memory_bytes_per_s = 1e9", "memory_bytes_per_s = 1e9\nlaunch_overhed_s = 1"),
            "m.toml:8: unknown key 'launch_overhed_s' (did you mean 'launch_overhead_s'?)");
  EXPECT_EQ(error_of_device("matmul = 0.5", "matmull = 0.5"),
            "m.toml:10: unknown key 'matmull' (did you mean 'matmul'?)");
  EXPECT_EQ(error_of_device("f32 = 1e9", "fp32 = 1e9"), "m.toml:9: unknown key 'fp32' (did you mean 'f32'?)");
  EXPECT_EQ(error_after_devices("[[chanel]]\nname = \"bus\"\n"),
            "m.toml:16: unknown key 'chanel' (did you mean 'channel'?)");
  EXPECT_EQ(error_after_devices("[[channel]]\nname = \"bus\"\nlatency_s = 0\nbytes_per_s = 1\nserve = []\n"),
            "m.toml:20: unknown key 'serve' (did you mean 'serves'?)");
}

TEST(BadMachine, AMachineNeedsADevice) {
  EXPECT_EQ(error_of("name = \"empty\"\n"), "m.toml: the machine has no devices; it needs at least one [[device]]");
  EXPECT_EQ(error_of("name = \"empty\"\ndevice = []\n"),
            "m.toml:2: 'device' must be a list of tables, [[...]], found a list");
}

TEST(BadMachine, NamesAreUnique) {
  const std::string again = "[[device]]\nname = \"cpu\"\n" + gpu_rest;
  EXPECT_EQ(error_after_devices(again), "m.toml:16: the device name 'cpu' is used twice");
  const std::string channel = "[[channel]]\nname = \"bus\"\nlatency_s = 0\nbytes_per_s = 1\n";
  EXPECT_EQ(error_after_devices(channel + "serves = [\"cpu -> gpu\"]\n" + channel),
            "m.toml:21: the channel name 'bus' is used twice");
}

TEST(BadMachine, CountedDevicesMayNotMeetANameThatIsTaken) {
  const std::string counted =
      "[[device]]\nname = \"npu\"\ncount = 2\n" + gpu_rest + "[[device]]\nname = \"npu:1\"\n" + gpu_rest;
  EXPECT_EQ(error_after_devices(counted), "m.toml:24: the device name 'npu:1' is used twice");
}

TEST(BadMachine, CountIsAWholeNumberFromOneTo255) {
  EXPECT_EQ(error_of_device("count = 1", "count = 0"), "m.toml:5: 'count' must be from 1 to 255, got 0");
  EXPECT_EQ(error_of_device("count = 1", "count = -3"), "m.toml:5: 'count' must be from 1 to 255, got -3");
  EXPECT_EQ(error_of_device("count = 1", "count = 256"), "m.toml:5: 'count' must be from 1 to 255, got 256");
  EXPECT_EQ(error_of_device("count = 1", "count = 1.5"), "m.toml:5: 'count' must be a whole number, found a number");
  EXPECT_EQ(
      error_of_device("count = 1", "count = \"N\""),
      "m.toml:5: 'count' must be a whole number, found 'N'; \"N\" has a value only in a preset's name, as in k40x2");
}

TEST(BadMachine, MoreDevicesThanAPlacementCanNameAreRefused) {
  EXPECT_EQ(error_after_devices("[[device]]\nname = \"many\"\ncount = 254\n" + gpu_rest),
            "m.toml:16: more than 255 devices, the most that a placement can name");
}

TEST(BadMachine, MemoryIsNeededOnceAndWithAUnit) {
  EXPECT_THAT(error_of_device("memory = \"1 GiB\"\n", ""),
              StartsWith("m.toml:2: device 'cpu' has no memory size; give memory = "));
  EXPECT_EQ(error_of_device("memory = \"1 GiB\"", "memory = \"1 GiB\"\nmemory_bytes = 5"),
            "m.toml:6: device 'cpu' gives both 'memory' and 'memory_bytes'; keep one");
  for (const char* text : {"12", "GiB", "twelve GB", "12 Gb", "-3 GB", "0 B", "1e30 GB", "nan GB"})
    EXPECT_THAT(error_of_device("1 GiB", text), AllOf(StartsWith("m.toml:6: 'memory' must be "), HasSubstr(text)));
  for (const char* bytes : {"0", "-1", "4611686018427387905"})
    EXPECT_EQ(error_of_device("memory = \"1 GiB\"", "memory_bytes = " + std::string(bytes)),
              "m.toml:6: 'memory_bytes' must be from 1 to 2^62, got " + std::string(bytes));
}

TEST(BadMachine, OnePairHasOneRoute) {
  const std::string channel = "latency_s = 0\nbytes_per_s = 1\nserves = [\"cpu -> gpu\"]\n";
  EXPECT_EQ(error_after_devices("[[channel]]\nname = \"a\"\n" + channel + "[[channel]]\nname = \"b\"\n" + channel),
            "m.toml:25: there are two routes from 'cpu' to 'gpu'; the other one comes from m.toml:20");
  const std::string topology =
      "[[topology]]\nkind = \"pcie-switch\"\nhost = \"cpu\"\ndevices = [\"gpu\"]\nlatency_s = 0\nbytes_per_s = 1\n";
  EXPECT_EQ(error_after_devices("[[channel]]\nname = \"a\"\n" + channel + topology),
            "m.toml:21: there are two routes from 'cpu' to 'gpu'; the other one comes from m.toml:20");
}

TEST(BadMachine, ServesListsOrderedPairsOfDifferentDevices) {
  const std::string channel = "[[channel]]\nname = \"a\"\nlatency_s = 0\nbytes_per_s = 1\n";
  EXPECT_EQ(error_after_devices(channel + "serves = [\"cpu gpu\"]\n"),
            "m.toml:20: 'serves' lists ordered pairs such as \"cpu:0 -> gpu:0\", got 'cpu gpu'");
  EXPECT_EQ(error_after_devices(channel + "serves = [\"cpu -> cpu\"]\n"),
            "m.toml:20: a route joins two different devices, got 'cpu' twice");
  EXPECT_EQ(error_after_devices(channel), "m.toml:16: channel 'a' serves no pair of devices and is on no [[route]]");
}

TEST(BadMachine, RoutesNameChannelsThatExistOnce) {
  const std::string channel = "[[channel]]\nname = \"nic\"\nlatency_s = 0\nbytes_per_s = 1\n";
  EXPECT_EQ(error_after_devices(channel + "[[route]]\nchannels = [\"nik\"]\nserves = [\"cpu -> gpu\"]\n"),
            "m.toml:21: there is no channel 'nik' (did you mean 'nic'?)");
  EXPECT_EQ(error_after_devices(channel + "[[route]]\nchannels = [\"nic\", \"nic\"]\nserves = [\"cpu -> gpu\"]\n"),
            "m.toml:21: channel 'nic' stands twice on the route");
  EXPECT_THAT(error_after_devices(channel + "[[route]]\nserves = [\"cpu -> gpu\"]\n"),
              HasSubstr("m.toml:20: a [[route]] needs channels"));
  EXPECT_THAT(error_after_devices(channel + "[[route]]\nchannels = [\"nic\"]\n"),
              HasSubstr("m.toml:20: a [[route]] needs serves"));
}

TEST(BadMachine, UnknownTopologyNamesTheNearestOne) {
  EXPECT_EQ(error_after_devices("[[topology]]\nkind = \"pci-switch\"\n"),
            "m.toml:17: unknown topology 'pci-switch' (did you mean 'pcie-switch'?)");
}

TEST(BadMachine, EthernetJoinsAtLeastTwoHostsWithoutCommonDevices) {
  const std::string ethernet = "[[topology]]\nkind = \"ethernet\"\nlatency_s = 0\nbytes_per_s = 1\n";
  EXPECT_THAT(error_after_devices(ethernet + "hosts = [{ devices = [\"cpu\"] }]\n"),
              HasSubstr("m.toml:20: 'hosts' must list at least two hosts"));
  EXPECT_EQ(error_after_devices(ethernet + "hosts = [{ devices = [\"cpu\"] }, { devices = [\"gpu\", \"cpu\"] }]\n"),
            "m.toml:20: device 'cpu' is in two hosts");
}

TEST(BadMachine, NamesThatWouldBreakMessagesAreRefused) {
  EXPECT_THAT(error_of_device("name = \"cpu\"", "name = \"c p u\""), HasSubstr("got 'c p u'"));
  EXPECT_THAT(error_of_device("name = \"cpu\"", "name = \"\""), HasSubstr("m.toml:3: the name of a device must be"));
  EXPECT_THAT(error_of_device("name = \"cpu\"", "name = \"a\\nb\""), HasSubstr("'a\\x0ab'"));
}

TEST(BadMachine, BrokenTomlNamesLineAndColumn) {
  EXPECT_THAT(error_of("name = \n"), AllOf(StartsWith("m.toml:1:"), HasSubstr("not valid TOML")));
}

TEST(BadMachine, ExtendsNamesAPreset) {
  EXPECT_EQ(error_of("extends = \"k40x\"\n"),
            "m.toml:1: unknown machine 'k40x': neither a preset nor a TOML file (did you mean 'k40x2'?)");
}

TEST(BadMachine, UnknownMachinesNameTheNearestPreset) {
  const auto message = [](const std::string& name) -> std::string {
    try {
      load_machine(name, "recipe.toml:3");
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("laptob"),
            "recipe.toml:3: unknown machine 'laptob': neither a preset nor a TOML file (did you mean 'laptop'?)");
  for (const char* number : {"0", "65", "007", "99999999999999999999"})
    EXPECT_EQ(message("k40x" + std::string(number)),
              "recipe.toml:3: the N of machine 'k40xN' must be a whole number from 1 to 64, got '" +
                  std::string(number) + "'");
  EXPECT_THAT(message("k40xN"), HasSubstr("must be a whole number from 1 to 64, got 'N'"));
  EXPECT_THAT(message("no/such.toml"), StartsWith("no/such.toml: cannot be read"));
}

}  // namespace
}  // namespace emplace::machine::bad_machine_test
