// Machines of a host and equal accelerators, with figures that are easy to add up.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "emplace/machine/machine.hpp"

namespace emplace::fit {

struct GpuMachine {
  int more = 0;       // accelerators called big, with twice the memory
  bool peers = true;  // routes between accelerators
  bool bus = false;   // one channel for all of them
  int hosts = 1;      // above 1: as many hosts of these devices
  std::string memory = "1 GB";
  double bytes_per_s = 1e10;  // of an accelerator's memory
  double latency_s = 1e-6;    // of links between accelerators, which have 1 GB/s
};

// cpu, gpu:0, gpu:1, ... and big:0, ...; one channel for each direction of a pair.
inline machine::Machine gpus(int count, const GpuMachine& with = {}) {
  const auto device = [](const char* name, const char* kind, int number, const std::string& memory, double speed) {
    return fmt::format(R"(
[[device]]
name = "{}"
kind = "{}"
{}
memory = "{}"
memory_bytes_per_s = {}
launch_overhead_s = 0
peak_flops = {{ default = 1e15 }}
efficiency = {{ default = 1 }}
)",
                       name, kind, number == 0 ? "" : fmt::format("count = {}", number), memory, speed);
  };
  std::string text = "name = \"gpus\"\n" + device("cpu", "cpu", 0, "4 GB", 1e9) +
                     device("gpu", "gpu", count, with.memory, with.bytes_per_s);
  if (with.more > 0) text += device("big", "gpu", with.more, "2 GB", with.bytes_per_s);
  const auto channel = [&](const std::string& name, const std::string& serves) {
    text += fmt::format("[[channel]]\nname = \"{}\"\nlatency_s = {}\nbytes_per_s = 1e9\nserves = [{}]\n", name,
                        with.latency_s, serves);
  };
  std::vector<std::string> devices;
  for (const auto& [name, number] : {std::pair{"gpu", count}, std::pair{"big", with.more}})
    for (int i = 0; i < number; ++i) devices.push_back(fmt::format("{}:{}", name, i));
  std::string bus;
  for (const std::string& a : devices) {
    channel("host-" + a, fmt::format("\"cpu -> {}\", \"{} -> cpu\"", a, a));
    for (const std::string& b : devices) {
      if (a == b || !with.peers) continue;
      const std::string route = fmt::format("\"{} -> {}\"", a, b);
      if (with.bus)
        bus += (bus.empty() ? "" : ", ") + route;
      else
        channel(a + "-" + b, route);
    }
  }
  if (!bus.empty()) channel("bus", bus);
  if (with.hosts > 1)
    text += fmt::format("[hosts]\ncount = {}\nname = \"net\"\nlatency_s = 1e-5\nbytes_per_s = 1e8\n", with.hosts);
  return machine::parse_machine(text, "gpus.toml");
}

}  // namespace emplace::fit
