// The placers that `best` and other portfolios run, by role.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "search/common/search_session.hpp"

namespace emplace::search {

// Which placers `best` uses: all that are registered, or `classic`, the list and the fixed rounds that it had before it
// gave its budget to what gains most. The baseline must not change: new placers do not join its list.
enum class Roles : std::uint8_t { all, classic };

[[nodiscard]] bool is_classic(std::string_view method);

// In the order of placers(), with the request's seed.
std::vector<PortfolioEntry> members(Roles roles, PlacerRole role, const PlacerRequest& request);

// Removes the searches called `names`, separated by commas. InputError with the position `place` for a name that is
// none.
void leave_out(std::vector<PortfolioEntry>& searches, const std::string& names, const std::string& place);

// Removes the searches that do not pay on the request's problem, and those that cannot be used; of the latter a warning
// says that the portfolio called `name` goes on without them.
void leave_out_unfit(std::vector<PortfolioEntry>& searches, const PlacerRequest& request, std::string_view name);

}  // namespace emplace::search
