// The timeline of a simulated step as a picture for papers: a lane a device and a channel, ops coloured by type, the
// critical path as a line above them.
#pragma once

#include <span>
#include <string>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/timeline/critical_path.hpp"

namespace emplace::report {

// An SVG document that needs nothing else. Whatever the number of ops, a lane has no more shapes than a picture can
// show: what is too narrow to be seen is drawn together with its neighbour. `path` is the step's critical path, or
// empty. The timeline must not be.
std::string timeline_svg(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                         std::span<const simulate::PathStep> path);

}  // namespace emplace::report
