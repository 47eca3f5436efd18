#include "policy/common/categorical_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/vector_math.hpp"
#include "emplace/base/error.hpp"

namespace emplace::policy {

CategoricalTable::CategoricalTable(std::size_t units, std::size_t devices)
    : units_(units), devices_(devices), probability_(units * devices), log_probability_(units * devices), row_(units) {}

void CategoricalTable::set(std::span<const float> logits) {
  EMPLACE_CHECK(logits.size() == units_ * devices_);
  std::fill(row_.begin(), row_.end(), -std::numeric_limits<double>::infinity());
  for (std::size_t d = 0; d < devices_; ++d) {
    double* log_p = log_probability_.data() + d * units_;
    for (std::size_t unit = 0; unit < units_; ++unit) {
      log_p[unit] = logits[unit * devices_ + d];
      row_[unit] = std::max(row_[unit], log_p[unit]);
    }
  }
  for (std::size_t d = 0; d < devices_; ++d) {
    double* log_p = log_probability_.data() + d * units_;
    double* p = probability_.data() + d * units_;
    for (std::size_t unit = 0; unit < units_; ++unit) p[unit] = log_p[unit] -= row_[unit];
  }
  exp_all(probability_);
  std::fill(row_.begin(), row_.end(), 0.0);
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) row_[unit] += probability_[d * units_ + unit];
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) probability_[d * units_ + unit] /= row_[unit];
  for (double& sum : row_) sum = std::log(sum);
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) log_probability_[d * units_ + unit] -= row_[unit];
}

double CategoricalTable::entropy() const {
  double sum = 0;
  for (std::size_t i = 0; i < probability_.size(); ++i)
    if (probability_[i] > 0) sum -= probability_[i] * log_probability_[i];
  return sum;
}

double CategoricalTable::kl_from(const CategoricalTable& old) const {
  double sum = 0;
  for (std::size_t i = 0; i < probability_.size(); ++i)
    if (old.probability_[i] > 0) sum += old.probability_[i] * (old.log_probability_[i] - log_probability_[i]);
  return sum;
}

// d log p[a] / du_j = [a = j] - f_j, so f_j is multiplied by the sum of the row's weights.
void CategoricalTable::add_gradient(std::span<const double> weight, std::span<float> gradient) const {
  std::vector<double> sum(units_, 0.0);
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) sum[unit] += weight[d * units_ + unit];
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) {
      const std::size_t at = d * units_ + unit;
      gradient[unit * devices_ + d] += static_cast<float>(weight[at] - probability_[at] * sum[unit]);
    }
}

void CategoricalTable::add_entropy_gradient(double weight, std::span<float> gradient) const {
  std::vector<double> entropy(units_, 0.0);
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) {
      const std::size_t at = d * units_ + unit;
      if (probability_[at] > 0) entropy[unit] -= probability_[at] * log_probability_[at];
    }
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) {
      const std::size_t at = d * units_ + unit;
      if (probability_[at] > 0)
        gradient[unit * devices_ + d] -=
            static_cast<float>(weight * probability_[at] * (log_probability_[at] + entropy[unit]));
    }
}

void CategoricalTable::add_kl_gradient(const CategoricalTable& old, double weight, std::span<float> gradient) const {
  for (std::size_t d = 0; d < devices_; ++d)
    for (std::size_t unit = 0; unit < units_; ++unit) {
      const std::size_t at = d * units_ + unit;
      gradient[unit * devices_ + d] += static_cast<float>(weight * (probability_[at] - old.probability_[at]));
    }
}

}  // namespace emplace::policy
