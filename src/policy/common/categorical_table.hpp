// A table of independent categorical distributions, computed from logits: U rows (units) of D probabilities (devices).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace emplace::policy {

// The values of one device are stored together (D x U, "planes"), so that every inner loop runs over units and
// vectorises; D is small. The logits and gradients of the interface are U x D. A logit of -infinity excludes its
// device.
class CategoricalTable {
 public:
  CategoricalTable(std::size_t units, std::size_t devices);

  // Softmax of every row. Double arithmetic: log-probabilities of thousands of rows are summed.
  void set(std::span<const float> logits);

  [[nodiscard]] std::size_t units() const { return units_; }
  [[nodiscard]] std::size_t devices() const { return devices_; }
  // U probabilities (logarithms) of one device.
  [[nodiscard]] std::span<const double> probability(std::size_t device) const { return plane(probability_, device); }
  [[nodiscard]] std::span<const double> log_probability(std::size_t device) const {
    return plane(log_probability_, device);
  }
  // Sum over rows, nats.
  [[nodiscard]] double entropy() const;
  // Sum over rows of KL(old || this).
  [[nodiscard]] double kl_from(const CategoricalTable& old) const;

  // gradient (U x D) += d/dlogits of sum of weight[device, unit] log p[device, unit]; weight is D x U.
  void add_gradient(std::span<const double> weight, std::span<float> gradient) const;
  // gradient += weight x d/dlogits of entropy(): dH/du_j = -f_j (log f_j + H).
  void add_entropy_gradient(double weight, std::span<float> gradient) const;
  // gradient += weight x d/dlogits of kl_from(old): f - f_old.
  void add_kl_gradient(const CategoricalTable& old, double weight, std::span<float> gradient) const;

 private:
  [[nodiscard]] std::span<const double> plane(const std::vector<double>& values, std::size_t device) const {
    return {values.data() + device * units_, units_};
  }

  std::size_t units_, devices_;
  std::vector<double> probability_, log_probability_;  // D x U
  std::vector<double> row_;                            // U: scratch of set()
};

}  // namespace emplace::policy
