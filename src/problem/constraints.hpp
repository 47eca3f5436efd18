// What a user demands of a placement: ops on given devices, devices without given ops, ops kept together. A constrained
// problem has no feasible placement that breaks a demand, so every method and the simulator itself keep to it.
#pragma once

#include <string>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace {

// A pattern is a path with wildcards (* for any text, ? for a character, [...] for a set), as in shells, where * also
// covers "/". It means the ops whose name it matches, and those in a module that it matches, at any depth.
struct Constraints {
  // "PATTERN=DEVICE": the ops run on this device.
  std::vector<std::string> pin = {};
  // "PATTERN=DEVICE", or "DEVICE" for all ops: the ops do not run on it.
  std::vector<std::string> forbid = {};
  // "PATTERN": the ops of each matching module, or if none matches all matching ops, have one device.
  std::vector<std::string> together = {};

  [[nodiscard]] bool empty() const { return pin.empty() && forbid.empty() && together.empty(); }
};

// Makes the problem's infeasible placements those that break a demand too. InputError, which begins with `place`, for a
// pattern that matches nothing, an unknown device (it names the nearest), and demands that leave an op or a group
// without a device (it names the op).
void constrain(Problem& problem, const Constraints& constraints, const std::string& place);

}  // namespace emplace
