// A problem with some of its numbers changed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "doctor/inputs.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::doctor {

// Changes the numbers of the problem one at a time (op seconds and memory by device, latency and bandwidth by channel,
// each kind of bytes at once), and calls `judge` to evaluate the same placement on each changed problem. It stops
// trying when `enough` returns a reason (not ""). A change beyond the limits of a problem is not tried.
std::vector<ProblemTrial> try_problem_inputs(
    const Problem& problem, const std::function<Outcome(const Problem& changed)>& judge,
    const std::function<std::string()>& enough = [] { return std::string(); });

}  // namespace emplace::doctor
