// Damaged machine files are refused with an InputError, or read; nothing else happens.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::machine::hostile_machine_test {
namespace {

std::string example() {
  const std::string readme = read_file("configs/machines/README.md");
  const std::size_t begin = readme.find("```toml\n") + 8;
  return readme.substr(begin, readme.find("```", begin) - begin);
}

// What a machine must be once it was read, whatever the file said.
void check_sound(const Machine& machine) {
  RC_ASSERT(!machine.devices.empty() && machine.devices.size() <= 255);
  for (const MachineDevice& device : machine.devices) {
    RC_ASSERT(device.memory_bytes > 0 || !device.memory_limited);
    RC_ASSERT(device.memory_bytes_per_s > 0 && device.launch_overhead_s >= 0 && !device.peak_flops.empty());
    for (const auto& [cls, share] : device.efficiency) RC_ASSERT(share > 0 && share <= 1);
  }
  for (const MachineChannel& channel : machine.channels) RC_ASSERT(channel.bytes_per_s > 0 && channel.latency_s >= 0);
  for (const MachineRoute& route : machine.routes) {
    RC_ASSERT(route.from != route.to && route.from < machine.devices.size() && route.to < machine.devices.size());
    RC_ASSERT(!route.channels.empty());
    for (const std::size_t channel : route.channels) RC_ASSERT(channel < machine.channels.size());
  }
}

TEST(HostileMachine, DamagedFilesAreReadOrRefused) {
  const std::string text = example();
  EXPECT_TRUE(rc::check("bytes changed, cut out or doubled", [&] {
    std::string damaged = text;
    for (int k = *rc::gen::inRange(1, 4); k > 0 && !damaged.empty(); --k) {
      const auto at = *rc::gen::inRange<std::size_t>(0, damaged.size());
      const auto length = *rc::gen::inRange<std::size_t>(0, 40);
      switch (*rc::gen::inRange(0, 3)) {
        case 0: damaged[at] = *rc::gen::arbitrary<char>(); break;
        case 1: damaged.erase(at, length); break;
        default: damaged.insert(at, std::string(damaged.substr(at, length)));
      }
    }
    try {
      check_sound(parse_machine(damaged, "m.toml"));
    } catch (const InputError& error) {
      RC_ASSERT(std::string(error.what()).starts_with("m.toml"));
    }
  }));
}

TEST(HostileMachine, AClashWithThePresetBeneathNamesTheFileFirst) {
  std::string text = example();
  const std::size_t at = text.find("# extends");
  ASSERT_NE(at, std::string::npos);
  text[at] = ' ';  // its own links now meet those of the preset
  try {
    parse_machine(text, "m.toml");
    FAIL() << "accepted two routes for one pair";
  } catch (const InputError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("m.toml: preset k40x2:")) << error.what();
  }
}

TEST(HostileMachine, StrangeNumbersAreReadOrRefused) {
  const std::string text = example();
  EXPECT_TRUE(rc::check("numbers replaced", [&] {
    std::string damaged = text;
    std::vector<std::size_t> digits;
    for (std::size_t i = 0; i < damaged.size(); ++i)
      if (damaged[i] >= '0' && damaged[i] <= '9') digits.push_back(i);
    const std::size_t at = digits[*rc::gen::inRange<std::size_t>(0, digits.size())];
    damaged.replace(
        at, 1, *rc::gen::element<std::string>("-1", "0", "1e400", "nan", "inf", "99999999999999999999", "\"\"", "[]"));
    try {
      check_sound(parse_machine(damaged, "m.toml"));
    } catch (const InputError& error) {
      RC_ASSERT(std::string(error.what()).starts_with("m.toml"));
    }
  }));
}

}  // namespace
}  // namespace emplace::machine::hostile_machine_test
