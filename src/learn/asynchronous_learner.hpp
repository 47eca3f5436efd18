// An update in two halves in different processes: controllers compute gradients, and the process with the parameters
// applies them when they arrive (docs/papers/colocrl.md, section 2.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "emplace/base/state.hpp"
#include "emplace/policy/policy.hpp"

namespace emplace::learn {

// What a controller reports with a gradient.
struct GradientReport {
  double progress = 0;             // share of the training's budget that was used when the batch was given
  double baseline = 0;             // mean baseline of the used samples
  double entropy = 0;              // per head, nats
  double entropy_weight = 0;       // of the gradient
  std::uint64_t used_samples = 0;  // 0: there is no gradient, and the parameters stay as they are
};

class AsynchronousLearner {
 public:
  virtual ~AsynchronousLearner() = default;

  [[nodiscard]] virtual std::size_t controllers() const = 0;

  // On a controller: policy.gradient() becomes the gradient of its evaluated rollouts, all drawn from the policy's
  // present parameters, against its own baselines, which are updated. Throws NotFinite.
  virtual GradientReport compute(policy::Policy& policy, std::span<const policy::Rollout> rollouts,
                                 std::size_t controller) = 0;
  // Where the parameters are: one optimiser step along policy.gradient(), which is overwritten. Returns the columns of
  // Learner::update(). Throws NotFinite.
  virtual std::map<std::string, double> apply(policy::Policy& policy, const GradientReport& report) = 0;

  // The baselines of a controller; load_controller() throws an InputError for a state that save_controller() cannot
  // have written.
  [[nodiscard]] virtual State save_controller(std::size_t controller) const = 0;
  virtual void load_controller(std::size_t controller, const State& state) = 0;
};

}  // namespace emplace::learn
