// The searches of `best`, run inside another search on a smaller problem that is made from the request's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "emplace/search/placer.hpp"

namespace emplace::search {

// The searches that run the others inside, and so do not run inside each other (contracted.cpp, layered.cpp).
inline constexpr std::string_view contracted_search = "contracted", layered_search = "layered";
[[nodiscard]] constexpr bool runs_searches_inside(std::string_view method) {
  return method == contracted_search || method == layered_search;
}

struct InnerOptions {
  std::string without;  // searches that are left out, separated by commas
  std::int64_t moves_per_unit = 200;
};

void describe(InnerOptions& o, OptionVisitor& visit);

// Searches a smaller problem from a placement of it, and returns the best placement of that problem.
using InnerSearch = std::function<Placement(const Problem& smaller, const Placement& start)>;

// The search called `method`: `through` makes the smaller problem, runs the given search on it, and returns the
// placement of the request's problem that this gives. The inner search is those of `best` that begin from nothing but a
// placement, with the whole budget but one evaluation, which is for the result; without a budget, with that many moves
// per op. InputError with the position `place` for a name in `without` that is no search.
PlacerResult place_inside(const PlacerRequest& request, std::string_view method, const InnerOptions& options,
                          const std::string& place,
                          const std::function<Placement(const Placement& start, const InnerSearch& search)>& through);

}  // namespace emplace::search
