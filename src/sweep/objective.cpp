#include "emplace/sweep/objective.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"

namespace emplace {

std::optional<double> trial_objective(std::span<const std::vector<double>> seconds) {
  EMPLACE_CHECK(!seconds.empty());
  std::vector<double> means;  // of logarithms
  for (const std::vector<double>& problems : seconds) {
    EMPLACE_CHECK(!problems.empty());
    double sum = 0;
    for (const double each : problems) sum += std::log(each);
    means.push_back(sum / static_cast<double>(problems.size()));
  }
  std::ranges::sort(means);
  const std::size_t middle = means.size() / 2;
  const double median = means.size() % 2 == 1 ? means[middle] : (means[middle - 1] + means[middle]) / 2;
  if (!std::isfinite(median)) return std::nullopt;
  return std::exp(median);
}

}  // namespace emplace
