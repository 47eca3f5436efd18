#include "search/exact/assignment.hpp"

#include <algorithm>

namespace emplace::search {

std::vector<std::uint8_t> assigned_devices(const std::vector<double>& solution,
                                           const std::vector<std::uint32_t>& unit_of_op, std::size_t devices,
                                           const std::function<int(std::uint32_t unit)>& first_column) {
  std::vector<std::uint8_t> placed;
  for (const std::uint32_t unit : unit_of_op) {
    const auto first = solution.begin() + first_column(unit);
    placed.push_back(
        static_cast<std::uint8_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(devices)) - first));
  }
  return placed;
}

}  // namespace emplace::search
