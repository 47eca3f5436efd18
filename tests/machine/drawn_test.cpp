// Machines drawn at random.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"
#include "machine/drawn.hpp"

namespace emplace::machine::drawn_test {
namespace {

using ::testing::HasSubstr;

constexpr int seeds = 300;

TEST(DrawnMachine, HasTwoToSixteenDevicesOfWhichAnyTwoAreJoined) {
  std::set<std::size_t> sizes;
  for (int seed = 0; seed < seeds; ++seed) {
    const Machine machine = load_machine("drawn-" + std::to_string(seed));
    const std::size_t n = machine.devices.size();
    sizes.insert(n);
    EXPECT_EQ(machine.routes.size(), n * (n - 1)) << seed;
  }
  EXPECT_EQ(*sizes.begin(), 2u);
  EXPECT_EQ(*sizes.rbegin(), 16u);
  EXPECT_EQ(sizes.size(), 15u);
}

TEST(DrawnMachine, IsTheSameForTheSameSeedAndAnotherForAnother) {
  EXPECT_EQ(drawn_machine_toml("drawn-7", ""), drawn_machine_toml("drawn-7", ""));
  std::set<std::string> texts;
  for (int seed = 0; seed < seeds; ++seed) {
    const std::string text = drawn_machine_toml("drawn-" + std::to_string(seed), "");
    texts.insert(text.substr(text.find('\n')));  // without the name
  }
  EXPECT_EQ(texts.size(), static_cast<std::size_t>(seeds));
}

TEST(DrawnMachine, HasUnlikeDevicesOnUnlikeLinks) {
  int unlike_gpus = 0, several_hosts = 0, shared_uplinks = 0, fast_links = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const Machine machine = load_machine("drawn-" + std::to_string(seed));
    std::set<double> speeds;
    std::size_t cpus = 0;
    for (const MachineDevice& device : machine.devices)
      if (device.kind == "gpu")
        speeds.insert(device.peak_flops.at("f32"));
      else
        ++cpus;
    bool uplink = false, fast = false;
    for (const MachineChannel& channel : machine.channels) {
      uplink |= channel.name.find(":uplink:") != std::string::npos;
      fast |= channel.name.starts_with("fast:");
    }
    unlike_gpus += speeds.size() > 1;
    several_hosts += cpus > 1;
    shared_uplinks += uplink;
    fast_links += fast;
  }
  for (const int count : {unlike_gpus, several_hosts, shared_uplinks, fast_links}) {
    EXPECT_GT(count, seeds / 10);
    EXPECT_LT(count, seeds * 9 / 10);
  }
}

TEST(DrawnMachine, RefusesASeedThatIsNoNumber) {
  for (const char* name : {"drawn-", "drawn-x", "drawn--1", "drawn-07", "drawn-1.5", "drawn-1234567890"}) try {
      load_machine(name, "here");
      FAIL() << name;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("here: the seed of machine 'drawn-SEED' must be a whole number")) << name;
    }
}

}  // namespace
}  // namespace emplace::machine::drawn_test
