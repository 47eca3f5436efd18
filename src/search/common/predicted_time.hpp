// How long placers take, predicted from the sizes of the problem, so that a portfolio with a budget of seconds knows
// before it starts a placer whether that fits. Predictions are within a factor of about three on a core of 2023; a
// caller that has run some placers can scale them by the time that those took.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/search/placer.hpp"

namespace emplace::search {

// m-sct solves a linear program up to this number of edges, unless its option says otherwise.
inline constexpr std::int64_t most_edges_of_program = 5000;

struct PredictedTime {
  double whole = 0;  // seconds; of a search, those before it tries its first move
  double first = 0;  // seconds until the first placement; below `whole` if the placer tries several one after the other
};

// A method without a figure of its own is taken to be as slow as a list scheduler.
PredictedTime predicted_time(std::string_view method, const Problem& problem);

// The names of the quick placers that `best` uses for the objective, those that take least time first; `single` counts
// with its first placement, which is that of the device that has least work.
std::vector<std::string> quick_placers_by_time(const Problem& problem, Objective objective);

// Whether `best` uses the placer, which has this role, for the objective.
bool is_in_best(const PlacerEntry& entry, PlacerRole role, Objective objective);

// For methods that cannot be stopped: why the first placement does not fit the request's seconds, more than a second
// of which may be missing; "" if it fits or there is no budget of seconds.
std::string why_too_long(std::string_view method, const PlacerRequest& request);

}  // namespace emplace::search
