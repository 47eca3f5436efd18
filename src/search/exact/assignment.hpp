// Placements from the solution of an integer program.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace emplace::search {

// N: for each op the device whose column of its unit has the largest value. The columns of a unit are `devices` ones in
// a row; first_column(unit) is that of device 0.
std::vector<std::uint8_t> assigned_devices(const std::vector<double>& solution,
                                           const std::vector<std::uint32_t>& unit_of_op, std::size_t devices,
                                           const std::function<int(std::uint32_t unit)>& first_column);

}  // namespace emplace::search
