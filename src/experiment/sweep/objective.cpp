#include "experiment/sweep/objective.hpp"

#include <cmath>
#include <utility>

#include "base/statistics.hpp"
#include "emplace/base/error.hpp"

namespace emplace::experiment {

std::optional<double> trial_objective(std::span<const std::vector<double>> seconds) {
  EMPLACE_CHECK(!seconds.empty());
  std::vector<double> means;  // of logarithms
  for (const std::vector<double>& problems : seconds) {
    EMPLACE_CHECK(!problems.empty());
    double sum = 0;
    for (const double each : problems) sum += std::log(each);
    means.push_back(sum / static_cast<double>(problems.size()));
  }
  const double middle = median(std::move(means));
  if (!std::isfinite(middle)) return std::nullopt;
  return std::exp(middle);
}

}  // namespace emplace::experiment
