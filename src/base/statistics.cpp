#include "base/statistics.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace {

double median(std::vector<double> values) {
  EMPLACE_CHECK(!values.empty());
  std::ranges::sort(values);
  const std::size_t lower = (values.size() - 1) / 2, upper = values.size() / 2;
  return lower == upper ? values[lower] : (values[lower] + values[upper]) / 2;
}

}  // namespace emplace
