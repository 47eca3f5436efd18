// The timeline of a simulated step as a picture for papers: a lane for each device and channel, ops coloured by type,
// the critical path as a line above them, the problem's name and
// the step time as title. Light and dark, in the colours of the report.
#pragma once

#include <span>
#include <string>

#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/timeline/critical_path.hpp"

namespace emplace::report {

// A complete SVG document without references to other files. Ops too narrow to be seen are merged with their
// neighbours, so the size of the document is bounded whatever the number of ops. `path` is the step's critical path; it
// may be empty, but the timeline must not be.
std::string timeline_svg(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                         std::span<const simulate::PathStep> path);

}  // namespace emplace::report
