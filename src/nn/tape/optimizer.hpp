// Optimisers, which change flat vectors of parameters along flat gradients, with clipping and learning-rate schedules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/base/state.hpp"

namespace emplace::nn {

// The options of every learner that trains a policy. With p the share of the training's budget that is used, and s = 0,
// 1, ... the number of the step:
//   linear, where learning_rate_end >= 0: from learning_rate at p = 0 to learning_rate_end at p = learning_rate_share
//   exponential, where learning_rate_decay < 1: times learning_rate_decay^floor(s / learning_rate_decay_every)
struct OptimizerOptions {
  std::string optimizer = "adam";
  double learning_rate = 1e-3;
  double learning_rate_end = -1;
  double learning_rate_share = 1;
  double learning_rate_decay = 1;
  std::int64_t learning_rate_decay_every = 1;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, momentum = 0, rho = 0.9;
  double clip_norm = 1.0;
};
void describe(OptimizerOptions& options, OptionVisitor& visit);

// The learning rate of step `step`, counted from 0, when the share `progress` of the training's budget is used.
double learning_rate_at(const OptimizerOptions& options, double progress, std::int64_t step);

struct StepReport {
  double gradient_norm = 0;  // before clipping
  double learning_rate = 0;
};

// g is the gradient, clipped: times clip_norm / |g| where its global norm |g| (summed in double) is above clip_norm.
//   adam (Kingma, Ba 2015):  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
//     p -= rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon), t = 1, 2, ...
//   rmsprop (Tieleman, Hinton 2012):  v = rho v + (1 - rho) g^2;  m = momentum m + rate g / (sqrt(v) + epsilon)
//     p -= m
//   sgd:  m = momentum m + g;  p -= rate m
class Optimizer {
 public:
  explicit Optimizer(const OptimizerOptions& options);

  // The first call fixes the number of parameters. A parameter that is not finite (a masked logit of -infinity) does
  // not change, and its gradient is ignored. NotFinite for a gradient that is not finite, before anything is changed,
  // and for a step after which parameters or moments are not finite.
  StepReport step(std::span<float> parameters, std::span<const float> gradient, double progress = 0);

  [[nodiscard]] State save() const;  // "step", "first" (m), "second" (v, zeros for sgd)
  // InputError for a state that save() cannot have written after steps with this number of parameters.
  void load(const State& state, std::size_t parameters);

 private:
  void apply(std::span<float> p, std::span<const float> g, float factor, double rate);

  OptimizerOptions options_;
  std::int64_t step_ = 0;
  std::vector<float> first_, second_;
};

}  // namespace emplace::nn
