// The placers that `best` runs, by role.
#pragma once

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

}  // namespace emplace::search
