// Placers that begin with a placement of the caller.
#pragma once

#include <string>

namespace emplace::search {

// Throws InputError, which names the placers with PlacerEntry::from_start, where `method` is not one of them. `option`
// is the option's name at the caller ("--start", "start").
void refuse_start_where_unused(const std::string& option, const std::string& method);

}  // namespace emplace::search
