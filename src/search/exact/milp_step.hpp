// The placer `milp` for the step time.
#pragma once

#include <string>

#include "emplace/search/placer.hpp"

namespace emplace::search {

// Why the problem is too large for it, or "" if it is not.
std::string too_large_for_step_program(const Problem& problem);
// The options are those of all solvers (solver_options.hpp).
PlacerResult place_step_by_milp(const PlacerRequest& request, const ConfigTable& table);

}  // namespace emplace::search
