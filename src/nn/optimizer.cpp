#include "emplace/nn/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "kernels.hpp"

namespace emplace::nn {

void describe(OptimizerOptions& o, OptionVisitor& visit) {
  visit("optimizer", o.optimizer, {.choices = {"adam", "rmsprop", "sgd"}, .help = "How gradients become steps."});
  visit("learning_rate", o.learning_rate,
        {.min = 0, .max = 1e3, .above_min = true, .help = "Length of a step, at the start of a schedule."});
  visit("learning_rate_end", o.learning_rate_end,
        {.min = 0, .max = 1e3, .help = "Learning rate after learning_rate_updates updates, reached linearly."});
  visit("learning_rate_updates", o.learning_rate_updates,
        {.min = 0, .help = "Updates until the learning rate is learning_rate_end."});
  visit("learning_rate_decay", o.learning_rate_decay,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "Factor of the learning rate every learning_rate_decay_every updates."});
  visit("learning_rate_decay_every", o.learning_rate_decay_every,
        {.min = 1, .help = "Updates between two decays of the learning rate."});
  visit("beta1", o.beta1, {.min = 0, .max = 0.999999, .help = "Adam: how much of the mean gradient is kept."});
  visit("beta2", o.beta2, {.min = 0, .max = 0.99999999, .help = "Adam: how much of the mean square is kept."});
  visit("epsilon", o.epsilon,
        {.min = 0, .max = 1, .above_min = true, .help = "Adam and RMSProp: added to the root of the mean square."});
  visit("momentum", o.momentum, {.min = 0, .max = 0.999999, .help = "SGD and RMSProp: how much of a step is kept."});
  visit("rho", o.rho, {.min = 0, .max = 0.99999999, .help = "RMSProp: how much of the mean square is kept."});
  visit("clip_norm", o.clip_norm, {.min = 0, .help = "Largest norm of a gradient, over all parameters; 0: any."});
}

double learning_rate_at(const OptimizerOptions& o, std::int64_t step) {
  double rate = o.learning_rate;
  if (o.learning_rate_end >= 0) {
    const double part = step >= o.learning_rate_updates
                            ? 1.0
                            : static_cast<double>(step) / static_cast<double>(o.learning_rate_updates);
    rate += part * (o.learning_rate_end - o.learning_rate);
  }
  if (o.learning_rate_decay < 1)
    rate *= std::pow(o.learning_rate_decay, static_cast<double>(step / o.learning_rate_decay_every));
  return rate;
}

Optimizer::Optimizer(const OptimizerOptions& options) : options_(options) {
  EMPLACE_CHECK(options.optimizer == "adam" || options.optimizer == "rmsprop" || options.optimizer == "sgd",
                "no optimizer is called {}", options.optimizer);
}

bool Optimizer::compute(std::span<const float> parameters, std::span<const float> gradient, float factor, double rate) {
  const std::size_t n = parameters.size();
  const float* const p = parameters.data();
  const float* const g = gradient.data();
  float* const next = next_.data();
  float* const m = next_first_.data();
  float* const v = next_second_.data();
  if (options_.optimizer == "adam") {
    const auto t = static_cast<double>(step_ + 1);
    // The bias corrections are folded into the rate and epsilon.
    const double root = std::sqrt(1 - std::pow(options_.beta2, t));
    const AdamStep step{.factor = factor,
                        .keep1 = static_cast<float>(options_.beta1),
                        .take1 = static_cast<float>(1 - options_.beta1),
                        .keep2 = static_cast<float>(options_.beta2),
                        .take2 = static_cast<float>(1 - options_.beta2),
                        .scale = static_cast<float>(rate * root / (1 - std::pow(options_.beta1, t))),
                        .epsilon = static_cast<float>(options_.epsilon * root)};
    kernels<float>().adam(step, p, g, first_.data(), second_.data(), next, m, v, n);
  } else if (options_.optimizer == "rmsprop") {
    const auto keep = static_cast<float>(options_.rho), take = static_cast<float>(1 - options_.rho);
    const auto momentum = static_cast<float>(options_.momentum), scale = static_cast<float>(rate);
    const auto epsilon = static_cast<float>(options_.epsilon);
    for (std::size_t i = 0; i < n; ++i) {
      const float slope = factor * g[i];
      v[i] = keep * second_[i] + take * (slope * slope);
      m[i] = momentum * first_[i] + scale * slope / (std::sqrt(v[i]) + epsilon);
      next[i] = p[i] - m[i];
    }
  } else {
    const auto momentum = static_cast<float>(options_.momentum), scale = static_cast<float>(rate);
    for (std::size_t i = 0; i < n; ++i) {
      m[i] = momentum * first_[i] + factor * g[i];
      v[i] = 0;
      next[i] = p[i] - scale * m[i];
    }
  }
  return kernels<float>().settle(p, next, m, v, n);
}

StepReport Optimizer::step(std::span<float> parameters, std::span<const float> gradient) {
  const std::size_t n = parameters.size();
  EMPLACE_CHECK(gradient.size() == n && (step_ == 0 || first_.size() == n), "{} parameters, {} gradients, {} moments",
                n, gradient.size(), first_.size());
  for (auto* values : {&first_, &second_, &next_, &next_first_, &next_second_}) values->resize(n);

  const double squares = kernels<float>().squares(parameters.data(), gradient.data(), n);
  StepReport report{std::sqrt(squares), learning_rate_at(options_, step_)};
  if (!std::isfinite(squares)) throw NotFinite(fmt::format("the norm of the gradient is {}", report.gradient_norm));

  const bool clipped = options_.clip_norm > 0 && report.gradient_norm > options_.clip_norm;
  const auto factor = static_cast<float>(clipped ? options_.clip_norm / report.gradient_norm : 1.0);
  if (!compute(parameters, gradient, factor, report.learning_rate))
    throw NotFinite(fmt::format("a step of learning rate {} along a gradient of norm {} leaves the finite numbers",
                                report.learning_rate, report.gradient_norm));
  std::ranges::copy(next_, parameters.begin());
  first_.swap(next_first_);
  second_.swap(next_second_);
  ++step_;
  return report;
}

State Optimizer::save() const {
  State state;
  put_scalar(state, "step", step_);
  put(state, "first", first_);
  put(state, "second", second_);
  return state;
}

void Optimizer::load(const State& state, std::size_t parameters) {
  const auto step = get_scalar<std::int64_t>(state, "step");
  if (step < 0) throw InputError("checkpoint", "array step is {}, wanted at least 0", step);
  const std::size_t wanted = step == 0 ? 0 : parameters;
  auto first = get<float>(state, "first", wanted);
  auto second = get<float>(state, "second", wanted);
  if (!std::ranges::all_of(first, [](float value) { return std::isfinite(value); }))
    throw InputError("checkpoint", "array first holds a number that is not finite");
  if (!std::ranges::all_of(second, [](float value) { return std::isfinite(value) && value >= 0; }))
    throw InputError("checkpoint", "array second holds a number that is negative or not finite");
  step_ = step;
  first_ = std::move(first);
  second_ = std::move(second);
}

}  // namespace emplace::nn
