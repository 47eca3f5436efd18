// Finds the devices that a profile measured.
#pragma once

#include <vector>

#include "cost/measured.hpp"

namespace emplace::cost {

// For each column of the profile the positions of the devices that it measured; none if given.device selects another
// column.
std::vector<std::vector<std::size_t>> devices_of(const DeviceProfile& given, const machine::Machine& machine);

}  // namespace emplace::cost
