#include "search/common/first_placement.hpp"

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/placer.hpp"

namespace emplace::search {

void refuse_start_where_unused(const std::string& option, const std::string& method) {
  std::vector<std::string> users;
  for (const PlacerEntry& entry : placers())
    if (entry.from_start) users.push_back(entry.name);
  if (std::ranges::find(users, method) == users.end())
    throw InputError(option, "is for {}; {} does not use a first placement", join(users, ", "), quote(method));
}

}  // namespace emplace::search
