// Machine files that calibration writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"
#include "machine/rescale.hpp"
#include "tests/machine/questions.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::machine::refit_test {
namespace {

MachineDevice other_figures(MachineDevice device) {
  device.memory_bytes_per_s = 1.234e10;
  device.launch_overhead_s = 3.21e-6;
  device.overlap = 0.5;
  device.efficiency["matmul"] = 0.4321;
  device.memory_efficiency["pooling"] = 0.25;
  device.half_flops["convolution"] = 1.5e6;
  device.half_bytes["default"] = 4096;
  device.fused_speedup["convolution"] = 1.25;
  return device;
}

void expect_figures(const MachineDevice& device, const MachineDevice& wanted) {
  EXPECT_EQ(device.memory_bytes_per_s, wanted.memory_bytes_per_s);
  EXPECT_EQ(device.launch_overhead_s, wanted.launch_overhead_s);
  EXPECT_EQ(device.overlap, wanted.overlap);
  EXPECT_EQ(device.efficiency, wanted.efficiency);
  EXPECT_EQ(device.memory_efficiency, wanted.memory_efficiency);
  EXPECT_EQ(device.half_flops, wanted.half_flops);
  EXPECT_EQ(device.half_bytes, wanted.half_bytes);
  EXPECT_EQ(device.fused_speedup, wanted.fused_speedup);
  EXPECT_EQ(device.peak_flops, wanted.peak_flops);
  EXPECT_EQ(device.memory_bytes, wanted.memory_bytes);
}

TEST(Refit, APresetIsExtendedAndAllDevicesOfTheEntryChange) {
  for (const char* preset : {"k40x2", "two-hosts"}) {
    const Machine before = load_machine(preset);
    const MachineDevice wanted = other_figures(before.devices[2]);  // a GPU
    const std::string text = refitted_machine_toml(preset, wanted, "mine");
    EXPECT_THAT(text, ::testing::HasSubstr(std::string("extends = \"") + preset + "\""));
    const Machine after = parse_machine(text, "mine.toml");
    EXPECT_EQ(after.name, "mine");
    ASSERT_EQ(after.devices.size(), before.devices.size());
    for (std::size_t d = 0; d < after.devices.size(); ++d)
      expect_figures(after.devices[d], after.devices[d].kind == "gpu" ? wanted : before.devices[d]);
    EXPECT_EQ(after.routes.size(), before.routes.size());
  }
}

TEST(Refit, AFileIsRepeatedWithTheNewFigures) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "m.toml";
  write_file(
      path,
      "name = \"m\"\nextends = \"k40x1\"\n" + device_toml("npu") +
          "[[topology]]\nkind = \"ethernet\"\nlatency_s = 0\nbytes_per_s = 1e9\nhosts = [{ devices = [\"npu\"] }, { "
          "devices = [\"cpu:0\"] }]\n");
  const Machine before = load_machine(path);
  const MachineDevice npu = other_figures(before.devices[2]);
  const Machine once = parse_machine(refitted_machine_toml(path, npu, "once"), "once.toml");
  expect_figures(once.devices[2], npu);
  EXPECT_EQ(once.routes.size(), before.routes.size());
  // A device of the preset below the file.
  const MachineDevice gpu = other_figures(before.devices[1]);
  const Machine twice = parse_machine(refitted_machine_toml(path, gpu, "twice"), "twice.toml");
  expect_figures(twice.devices[1], gpu);
  expect_figures(twice.devices[2], before.devices[2]);
}

TEST(Refit, AnUnknownDeviceNamesTheNearest) {
  MachineDevice device = load_machine("laptop").devices[0];
  device.name = "gpus";
  try {
    refitted_machine_toml("laptop", device, "m");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "laptop: the machine has no [[device]] 'gpus' (did you mean 'gpu'?)");
  }
}

TEST(RescaledMachine, HasDevicesOnWhichEveryOpTakesSoMuchLonger) {
  const Machine plain = load_machine("k40x2");
  const Machine slow = parse_machine(rescaled_machine_toml("k40x2", {{"gpu", {.time = 2}}}, "slow"), "slow.toml");
  EXPECT_EQ(slow.name, "slow");
  ASSERT_EQ(slow.devices.size(), 3u);
  for (std::size_t d = 0; d < 3; ++d) {
    const MachineDevice &was = plain.devices[d], &is = slow.devices[d];
    const double factor = was.kind == "gpu" ? 2 : 1;
    EXPECT_EQ(is.launch_overhead_s, was.launch_overhead_s * factor) << is.name;
    EXPECT_EQ(is.memory_bytes_per_s, was.memory_bytes_per_s / factor);
    for (const auto& [dtype, peak] : was.peak_flops) EXPECT_EQ(is.peak_flops.at(dtype), peak / factor) << dtype;
    EXPECT_EQ(is.efficiency, was.efficiency);
    EXPECT_EQ(is.memory_bytes, was.memory_bytes);
  }
  EXPECT_EQ(slow.channels.size(), plain.channels.size());
}

TEST(RescaledMachine, OfAFileIsRepeatedAndOfAnUnknownKindRefused) {
  test::TemporaryFolder folder;
  const std::string path = folder / "mine.toml";
  write_file(path, rescaled_machine_toml("laptop", {{"cpu", {.time = 0.5, .memory = 1000}}}, "mine"));
  const Machine once = load_machine(path);
  const Machine twice = parse_machine(
      rescaled_machine_toml(path, {{"cpu", {.time = 2, .memory = Bytes{1} << 50}}}, "twice"), "twice.toml");
  EXPECT_EQ(twice.devices[0].memory_bytes_per_s, load_machine("laptop").devices[0].memory_bytes_per_s);
  EXPECT_NE(once.devices[0].memory_bytes_per_s, twice.devices[0].memory_bytes_per_s);
  EXPECT_EQ(once.devices[0].memory_bytes, 1000);
  EXPECT_EQ(twice.devices[0].memory_bytes, 1000) << "there is no more than there was";
  try {
    rescaled_machine_toml("laptop", {{"npu", {}}}, "m");
    FAIL() << "a laptop has none";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("no device of kind 'npu'; there are: cpu, gpu"));
  }
}

}  // namespace
}  // namespace emplace::machine::refit_test
