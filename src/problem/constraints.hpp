// What a user demands of a placement: ops on given devices, devices without given ops, ops kept together, few tensors
// between devices. A constrained problem has no feasible placement that breaks a demand, so every method and the
// simulator itself keep to it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
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
  // The largest number of tensors of the problem that may be sent between devices; each counts once
  // (Problem::max_cuts).
  std::optional<std::uint64_t> max_cuts = {};

  [[nodiscard]] bool empty() const { return pin.empty() && forbid.empty() && together.empty() && !max_cuts; }
};

// The same as arguments of `place`, ready for a shell; "" if there are none.
std::string arguments_of(const Constraints& constraints);

// Makes the problem's infeasible placements those that break a demand too. InputError, which begins with `place`, for a
// pattern that matches nothing, an unknown device (it names the nearest), and demands that leave an op or a group
// without a device (it names the op).
void constrain(Problem& problem, const Constraints& constraints, const std::string& place);

// The demands whose pattern matches in this problem, and the limit of cuts.
Constraints those_that_match(const Constraints& constraints, const Problem& problem);

// The same for several problems of one task: each demand is made of those problems in which its pattern matches, and
// must match in one of them.
class TaskConstraints {
 public:
  TaskConstraints(Constraints constraints, std::string place)
      : constraints_(std::move(constraints)), place_(std::move(place)) {}

  void apply(Problem& problem);
  // After the last problem: InputError for a demand that matched in none.
  void check_all_matched() const;
  [[nodiscard]] const Constraints& constraints() const { return constraints_; }

 private:
  Constraints constraints_;
  std::string place_;
  std::set<std::string> matched_;  // demands
};

}  // namespace emplace
