// A host as its files describe it. Each test makes its own /proc and /sys.
#include "machine/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.hpp"
#include "emplace/machine/machine.hpp"
#include "tests/machine/questions.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::machine::probe_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Probe : public ::testing::Test {
 protected:
  void file(const std::string& path, const std::string& text) {
    const std::string whole = folder_ / path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    write_file(whole, text + "\n");
  }
  // Two cores with two threads each, 2.4 GHz, AVX2.
  void workstation() {
    std::string cpuinfo;
    for (int thread = 0; thread < 4; ++thread)
      cpuinfo += "processor\t: " + std::to_string(thread) +
                 "\nmodel name\t: A CPU @ 2.40GHz\nphysical id\t: 0\ncore id\t\t: " + std::to_string(thread % 2) +
                 "\nflags\t\t: fpu sse2 avx fma avx2\n\n";
    file("proc/cpuinfo", cpuinfo);
    file("proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB");
    file("sys/devices/system/cpu/cpu0/cache/index0/level", "2");
    file("sys/devices/system/cpu/cpu0/cache/index0/type", "Unified");
    file("sys/devices/system/cpu/cpu0/cache/index0/size", "1024K");
  }
  void pci(const std::string& address, const std::string& vendor, const std::string& device, const std::string& speed,
           const std::string& width) {
    const std::string path = "sys/bus/pci/devices/" + address + "/";
    file(path + "class", "0x030000");
    file(path + "vendor", vendor);
    file(path + "device", device);
    file(path + "max_link_speed", speed);
    file(path + "current_link_width", width);
  }
  [[nodiscard]] ProbedHost host(const std::string& nvidia_smi = {}) const {
    return probe_host({.root = folder_.path(), .nvidia_smi = nvidia_smi, .copy_bytes_per_s = 2e10});
  }
  test::TemporaryFolder folder_;
};

TEST_F(Probe, ReadsCoresClockVectorUnitsCachesAndMemory) {
  workstation();
  const ProbedHost found = host();
  EXPECT_EQ(found.cpu, "A CPU @ 2.40GHz");
  EXPECT_EQ(found.cores, 2U);
  EXPECT_EQ(found.threads, 4U);
  EXPECT_EQ(found.hertz, 2.4e9);
  EXPECT_EQ(found.f32_per_cycle, 32);
  EXPECT_THAT(found.caches, ElementsAre("L2 1024K"));
  EXPECT_EQ(found.memory_bytes, Bytes{16} << 30);
  const ProbedMachine probed = probed_machine(found, "mine");
  EXPECT_THAT(probed.guesses, IsEmpty());
  const Machine machine = parse_machine(probed.toml, "m.toml");
  ASSERT_THAT(machine.devices, SizeIs(1));
  EXPECT_DOUBLE_EQ(machine.devices[0].peak_flops.at("f32"), 2 * 2.4e9 * 32);
  EXPECT_EQ(machine.devices[0].memory_bytes_per_s, 2e10);
  EXPECT_EQ(machine.devices[0].memory_bytes, Bytes{16} << 30);
}

TEST_F(Probe, ABaseClockAndTheLimitsOfAContainerAreTheTrueOnes) {
  workstation();
  file("sys/devices/system/cpu/cpu0/cpufreq/base_frequency", "2000000");
  const ProbedHost found = probe_host({.root = folder_.path(),
                                       .nvidia_smi = {},
                                       .copy_bytes_per_s = 2e10,
                                       .allowed_threads = 1.5,
                                       .memory_limit = 0x1p30});
  EXPECT_EQ(found.hertz, 2e9);
  EXPECT_EQ(found.cores, 1U);
  EXPECT_THAT(found.left_out, ElementsAre(HasSubstr("1 of the host's 4 hardware threads")));
  EXPECT_EQ(found.memory_bytes, Bytes{1} << 30);
  EXPECT_TRUE(found.memory_limited_by_group);
  EXPECT_THAT(probed_machine(found, "mine").toml, HasSubstr("the limit of this control group"));
}

// 16 GT/s x 16 lanes x 128 / 130 / 8 = 31.5 GB/s; x 4 lanes of 8 GT/s 3.94 GB/s. Copies reach 80 %.
TEST_F(Probe, GpusOnUnlikeLinksGetRoutesThroughTheHost) {
  workstation();
  pci("0000:01:00.0", "0x10de", "0x2684", "16.0 GT/s PCIe", "16");
  pci("0000:02:00.0", "0x10de", "0x2504", "8.0 GT/s PCIe", "4");
  pci("0000:00:02.0", "0x8086", "0x4680", "Unknown", "0");  // integrated
  pci("0000:03:00.0", "0x1a03", "0x2000", "Unknown", "0");  // a server's console
  const ProbedHost found = host(
      "NVIDIA GeForce RTX 4090, 00000000:01:00.0, 24564, 4, 16\n"
      "NVIDIA GeForce RTX 3060, 00000000:02:00.0, 12288, 4, 16\n");
  ASSERT_THAT(found.gpus, SizeIs(2));
  EXPECT_EQ(found.gpus[0].name, "NVIDIA GeForce RTX 4090");
  EXPECT_EQ(found.gpus[1].memory_bytes, Bytes{12} << 30);
  EXPECT_THAT(found.left_out, ElementsAre(HasSubstr("8086:4680")));
  const ProbedMachine probed = probed_machine(found, "mine");
  EXPECT_THAT(probed.guesses, IsEmpty());
  const Machine machine = parse_machine(probed.toml, "m.toml");
  ASSERT_THAT(machine.devices, SizeIs(3));
  EXPECT_EQ(machine.devices[1].name, "gpu:0");
  EXPECT_EQ(machine.devices[1].peak_flops, load_machine("rtx4090-desktop").devices[1].peak_flops);
  EXPECT_NEAR(channel(machine, "pcie:gpu:0:from-host").bytes_per_s, 0.8 * 31.5e9, 0.1e9);
  EXPECT_NEAR(channel(machine, "pcie:gpu:1:to-host").bytes_per_s, 0.8 * 3.94e9, 0.02e9);
  EXPECT_THAT(route(machine, "gpu:0", "gpu:1"), ElementsAre("pcie:gpu:0:to-host", "pcie:gpu:1:from-host"));
}

TEST_F(Probe, WhatCannotBeKnownIsAGuessThatTheFileSays) {
  pci("0000:01:00.0", "0x1002", "0x1234", "Unknown", "0");
  ProbedHost found = host();
  found.copy_bytes_per_s = 0;
  ASSERT_THAT(found.gpus, SizeIs(1));
  const ProbedMachine probed = probed_machine(found, "mine");
  // Memory and its bandwidth, cores, clock, vector units; the GPU's memory, speed and link.
  EXPECT_THAT(probed.guesses, SizeIs(8));
  std::size_t marked = 0;
  for (std::size_t at = probed.toml.find("GUESS: "); at != std::string::npos; at = probed.toml.find("GUESS: ", at + 1))
    ++marked;
  EXPECT_EQ(marked, probed.guesses.size());
  EXPECT_THAT(parse_machine(probed.toml, "m.toml").devices, SizeIs(2));
}

TEST_F(Probe, FilesOfAnyContentGiveAValidMachine) {
  file("proc/cpuinfo", "processor : 0\nmodel name : a\x01\"\\ b = [[\nflags : fma");
  file("proc/meminfo", "MemTotal: 99999999999999999999999999 kB");
  pci("0000:01:00.0", "0x10de", "0x1\n[[device]]", "1e999 GT/s", "-7");
  const ProbedHost found = host("a\nb,c\nname\r,00000000:01:00.0,[N/A],[N/A],999\n,,,,\n");
  const Machine machine = parse_machine(probed_machine(found, "mine").toml, "m.toml");
  EXPECT_THAT(machine.devices, SizeIs(testing::Ge(2)));
  std::filesystem::remove_all(folder_ / "proc");
  std::filesystem::remove_all(folder_ / "sys");
  EXPECT_THAT(parse_machine(probed_machine(host(), "mine").toml, "m.toml").devices, SizeIs(1));
}

}  // namespace
}  // namespace emplace::machine::probe_test
