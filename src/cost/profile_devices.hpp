// Which devices a profile measured.
#pragma once

#include <vector>

#include "emplace/cost/measured.hpp"

namespace emplace::cost {

// Per column of the profile the positions of the devices that it measured; none for columns that are not asked for.
std::vector<std::vector<std::size_t>> devices_of(const DeviceProfile& given, const machine::Machine& machine);

}  // namespace emplace::cost
