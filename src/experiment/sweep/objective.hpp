// What a trial is judged by.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace emplace::experiment {

// `seconds` has a list a seed, and in it the best step time (or load) of each problem, infinity where no feasible
// placement was found. A seed comes to the geometric mean over its problems, so that a problem of long steps weighs no
// more than one of short ones; the trial to the median over its seeds (of an even number the geometric mean of the two
// in the middle). In seconds, lower is better; none if the median is a seed with a problem without a placement.
std::optional<double> trial_objective(std::span<const std::vector<double>> seconds);

}  // namespace emplace::experiment
