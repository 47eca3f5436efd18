// Placements that a placer finds for the training's problems on the policy's own units, for learners that imitate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "learn/learner.hpp"

namespace emplace::learn {

struct TeacherOptions {
  std::string teacher;  // empty: none
  std::int64_t teacher_moves = 100;
};
void describe(TeacherOptions& o, OptionVisitor& visit);

// Gives devices that nothing but their numbers distinguishes new numbers, in the order of the mean topological position
// of the units on them (those without any last), so that placements which differ only in such numbers are the same.
// `device` is by unit.
void order_equal_devices(const policy::PolicyProblem& problem, std::vector<std::uint8_t>& device);

class Demonstrations {
 public:
  Demonstrations(const TeacherOptions& options, const LearnerSetup& setup)
      : options_(options), setup_(setup), found_(setup.problems.size()) {}

  [[nodiscard]] bool any() const { return !options_.teacher.empty(); }
  // The teacher's placement of a problem as a sample of the policy; null if it found no feasible one. It is searched at
  // the first call for the problem, with a budget of teacher_moves evaluations for each unit, and is the same whenever
  // that is. InputError for a policy whose decisions are not one device for each unit.
  [[nodiscard]] const policy::Rollout* of(std::uint32_t problem, const policy::Policy& policy);

 private:
  [[nodiscard]] policy::Rollout find(std::uint32_t problem) const;

  TeacherOptions options_;
  LearnerSetup setup_;
  std::vector<std::optional<policy::Rollout>> found_;
};

}  // namespace emplace::learn
