// A problem with some of its numbers changed.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "doctor/inputs.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::doctor {

// Changes each number of the problem by itself (op seconds and memory by device, latency and bandwidth by channel,
// bytes all together), and has `judge` evaluate the same placement on what comes of it, until `enough` says why not to
// go on. What comes to more than a problem may have is not tried.
std::vector<ProblemTrial> try_problem_inputs(
    const Problem& problem, const std::function<Outcome(const Problem& changed)>& judge,
    const std::function<std::string()>& enough = [] { return std::string(); });

}  // namespace emplace::doctor
