// The searches of `best`, run inside another search on a smaller problem that is made from the request's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/common/search_session.hpp"

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

// A session of the request for the search called `method`, whose budget is otherwise that many moves per op.
SearchSession inner_session(const PlacerRequest& request, std::string_view method, const InnerOptions& options);

// Runs the searches of `best` that begin from nothing but a placement on `smaller`, from `start`, with all that is left
// of the session's budget but one evaluation, which is for the result. Returns the best placement of `smaller`.
// InputError with the position `place` for a name in `without` that is no search.
Placement search_inside(const Problem& smaller, const Placement& start, const PlacerRequest& request,
                        std::string_view method, const InnerOptions& options, const std::string& place,
                        SearchSession& session);

}  // namespace emplace::search
