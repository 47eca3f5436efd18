#include "experiment/sweep/parzen.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace emplace::experiment {

ParzenEstimator::ParzenEstimator(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  const double narrowest = 1 / std::min(100.0, static_cast<double>(n) + 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double left = values[i] - (i == 0 ? 0 : values[i - 1]);
    const double right = (i + 1 == n ? 1 : values[i + 1]) - values[i];
    const double deviation = std::clamp(std::max(left, right), narrowest, 1.0);
    const double scale = deviation * std::numbers::sqrt2;
    const double mass = (std::erf((1 - values[i]) / scale) + std::erf(values[i] / scale)) / 2;
    gaussians_.push_back({values[i], deviation, mass});
  }
}

double ParzenEstimator::density(double x) const {
  double sum = 1;
  for (const Gaussian& g : gaussians_) {
    const double z = (x - g.mean) / g.deviation;
    sum += std::exp(-z * z / 2) / (g.mass * g.deviation * std::sqrt(2 * std::numbers::pi));
  }
  return sum / static_cast<double>(gaussians_.size() + 1);
}

double ParzenEstimator::draw(Stream& stream) const {
  const std::uint32_t component = stream.below(static_cast<std::uint32_t>(gaussians_.size()) + 1);
  if (component == gaussians_.size()) return stream.uniform();
  const Gaussian& g = gaussians_[component];
  for (;;) {  // ends soon: at least a third of every Gaussian is within [0, 1]
    const double x = g.mean + g.deviation * stream.normal();
    if (x >= 0 && x <= 1) return x;
  }
}

FrequencyEstimator::FrequencyEstimator(std::span<const std::size_t> values, std::size_t count)
    : share_(count, 1 / static_cast<double>(count)) {
  for (const std::size_t value : values) share_[value] += 1;
  for (double& share : share_) share /= static_cast<double>(values.size() + 1);
}

std::size_t FrequencyEstimator::draw(Stream& stream) const {
  double left = stream.uniform();
  for (std::size_t value = 0; value + 1 < share_.size(); ++value) {
    if (left < share_[value]) return value;
    left -= share_[value];
  }
  return share_.size() - 1;
}

}  // namespace emplace::experiment
