// The objective by which trials are compared.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace emplace::experiment {

// `seconds` has for each seed a list with the best step time (or load) of each problem, infinity if no feasible
// placement was found. The result of a seed is the geometric mean over its problems, so that problems with long and
// short steps have equal weight. The objective is the median over the seeds (of an even number, the geometric mean of
// the two in the middle), in seconds, lower is better; none if it would be infinite.
std::optional<double> trial_objective(std::span<const std::vector<double>> seconds);

}  // namespace emplace::experiment
