// What several tests of machines are made of and ask.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::machine {

// A device of a machine file, with `more` lines of the test.
inline std::string device_toml(const std::string& name, const std::string& more = {}) {
  return "[[device]]\nname = \"" + name +
         "\"\nkind = \"x\"\nmemory = \"1 GiB\"\nmemory_bytes_per_s = 1e9\n"
         "peak_flops = { f32 = 1e9 }\nefficiency = { default = 1 }\n" +
         more;
}

// The names of the channels on the route, or nothing if there is none.
inline std::vector<std::string> route(const Machine& machine, const std::string& from, const std::string& to) {
  for (const MachineRoute& route : machine.routes)
    if (machine.devices[route.from].name == from && machine.devices[route.to].name == to) {
      std::vector<std::string> names;
      for (const std::size_t channel : route.channels) names.push_back(machine.channels[channel].name);
      return names;
    }
  return {};
}

inline const MachineChannel& channel(const Machine& machine, const std::string& name) {
  for (const MachineChannel& candidate : machine.channels)
    if (candidate.name == name) return candidate;
  throw std::runtime_error("no channel " + name);
}

inline std::string error_of(const std::string& toml) {
  try {
    parse_machine(toml, "m.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace emplace::machine
