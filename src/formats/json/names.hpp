// Names of ops and devices in our JSON files, looked up in a problem.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "formats/json/json.hpp"

namespace emplace::formats::json {

using Positions = std::unordered_map<std::string_view, std::uint32_t>;

// The names must outlive the result.
Positions positions_of(const std::vector<std::string>& names);

// InputError at `place` for a name that is none of `names`, with the nearest right one; `what`: "op", "device".
std::uint32_t position_of(std::string_view name, const Positions& positions, const std::vector<std::string>& names,
                          const char* what, const Place& place);

// N: the device of each op of an object {"op": "device"}. InputError for ops that are missing, named twice or unknown,
// and for unknown devices.
std::vector<std::uint8_t> devices_of_ops(Value object, const Place& place, const Positions& op_positions,
                                         const Problem& problem);

}  // namespace emplace::formats::json
