#include "nn/tape/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "nn/kernels/kernels.hpp"

namespace emplace::nn {

void describe(OptimizerOptions& o, OptionVisitor& visit) {
  visit("optimizer", o.optimizer,
        {.choices = {"adam", "rmsprop", "sgd"}, .help = "Method that computes steps from gradients."});
  visit("learning_rate", o.learning_rate,
        {.min = 0, .max = 1e3, .above_min = true, .help = "Learning rate, at the start of a schedule."});
  visit("learning_rate_end", o.learning_rate_end,
        {.min = 0, .max = 1e3, .help = "Learning rate from learning_rate_share of the budget on, reached linearly."});
  visit("learning_rate_share", o.learning_rate_share,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "Share of the training's budget after which the learning rate is learning_rate_end."});
  visit("learning_rate_decay", o.learning_rate_decay,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "Factor of the learning rate every learning_rate_decay_every steps of the optimizer (one per update "
                 "with REINFORCE, one per minibatch with PPO, fit_steps per refit with cross-entropy)."});
  visit("learning_rate_decay_every", o.learning_rate_decay_every,
        {.min = 1,
         .help = "Steps between two decays of the learning rate.",
         .only_with = {{"learning_rate_decay", {"1"}, true}}});
  visit("beta1", o.beta1,
        {.min = 0,
         .max = 0.999999,
         .help = "Adam: decay factor of the running mean of gradients.",
         .only_with = {{"optimizer", {"adam"}}}});
  visit("beta2", o.beta2,
        {.min = 0,
         .max = 0.99999999,
         .help = "Adam: decay factor of the running mean of squares.",
         .only_with = {{"optimizer", {"adam"}}}});
  visit("epsilon", o.epsilon,
        {.min = 0,
         .max = 1,
         .above_min = true,
         .help = "Adam and RMSProp: added to the root of the mean square.",
         .only_with = {{"optimizer", {"adam", "rmsprop"}}}});
  visit("momentum", o.momentum,
        {.min = 0,
         .max = 0.999999,
         .help = "SGD and RMSProp: share of a step that is added to the next.",
         .only_with = {{"optimizer", {"sgd", "rmsprop"}}}});
  visit("rho", o.rho,
        {.min = 0,
         .max = 0.99999999,
         .help = "RMSProp: decay factor of the running mean of squares.",
         .only_with = {{"optimizer", {"rmsprop"}}}});
  visit("clip_norm", o.clip_norm,
        {.min = 0, .help = "Gradients with a larger norm over all parameters are scaled down to it; 0: none."});
}

double learning_rate_at(const OptimizerOptions& o, double progress, std::int64_t step) {
  double rate = o.learning_rate;
  if (o.learning_rate_end >= 0)
    rate += std::min(1.0, progress / o.learning_rate_share) * (o.learning_rate_end - o.learning_rate);
  if (o.learning_rate_decay < 1)
    rate *= std::pow(o.learning_rate_decay, static_cast<double>(step / o.learning_rate_decay_every));
  return rate;
}

Optimizer::Optimizer(const OptimizerOptions& options) : options_(options) {
  EMPLACE_CHECK(options.optimizer == "adam" || options.optimizer == "rmsprop" || options.optimizer == "sgd",
                "no optimizer is called {}", options.optimizer);
}

namespace {

// The coefficients of one Adam step; the bias corrections of the moments are included in the rate and epsilon.
AdamStep adam_step(const OptimizerOptions& o, std::int64_t step, float factor, double rate) {
  const auto t = static_cast<double>(step + 1);
  const double root = std::sqrt(1 - std::pow(o.beta2, t));
  return {.factor = factor,
          .keep1 = static_cast<float>(o.beta1),
          .take1 = static_cast<float>(1 - o.beta1),
          .keep2 = static_cast<float>(o.beta2),
          .take2 = static_cast<float>(1 - o.beta2),
          .scale = static_cast<float>(rate * root / (1 - std::pow(o.beta1, t))),
          .epsilon = static_cast<float>(o.epsilon * root)};
}

std::size_t count_finite(std::span<const float> values) {
  std::size_t count = 0;
  for (const float value : values) count += std::isfinite(value) ? 1 : 0;
  return count;
}

}  // namespace

void Optimizer::apply(std::span<float> p, std::span<const float> g, float factor, double rate) {
  if (options_.optimizer == "adam")
    return kernels<float>().adam(adam_step(options_, step_, factor, rate), p.data(), g.data(), first_.data(),
                                 second_.data(), p.size());
  const auto momentum = static_cast<float>(options_.momentum), scale = static_cast<float>(rate);
  const auto keep = static_cast<float>(options_.rho), take = static_cast<float>(1 - options_.rho);
  const auto epsilon = static_cast<float>(options_.epsilon);
  const bool rmsprop = options_.optimizer == "rmsprop";
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isfinite(p[i])) {
      first_[i] = second_[i] = 0;
      continue;
    }
    const float slope = factor * g[i];
    if (rmsprop) {
      second_[i] = keep * second_[i] + take * (slope * slope);
      first_[i] = momentum * first_[i] + scale * slope / (std::sqrt(second_[i]) + epsilon);
      p[i] -= first_[i];
    } else {
      first_[i] = momentum * first_[i] + slope;
      p[i] -= scale * first_[i];
    }
  }
}

StepReport Optimizer::step(std::span<float> parameters, std::span<const float> gradient, double progress) {
  const std::size_t n = parameters.size();
  EMPLACE_CHECK(gradient.size() == n, "{} parameters, {} gradients", n, gradient.size());
  EMPLACE_CHECK(step_ == 0 || first_.size() == n, "{} parameters after {}", n, first_.size());

  const StepReport report{std::sqrt(kernels<float>().squares(parameters.data(), gradient.data(), n)),
                          learning_rate_at(options_, progress, step_)};
  if (!std::isfinite(report.gradient_norm)) throw NotFinite("the norm of the gradient is {}", report.gradient_norm);
  const bool clipped = options_.clip_norm > 0 && report.gradient_norm > options_.clip_norm;
  const auto factor = static_cast<float>(clipped ? options_.clip_norm / report.gradient_norm : 1.0);

  first_.resize(n);
  second_.resize(n);
  const std::size_t finite = count_finite(parameters);
  apply(parameters, gradient, factor, report.learning_rate);
  ++step_;
  if (count_finite(parameters) != finite || count_finite(first_) != n || count_finite(second_) != n)
    throw NotFinite("a step of learning rate {} along a gradient of norm {} gives parameters that are not finite",
                    report.learning_rate, report.gradient_norm);
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
  constexpr std::int64_t most = std::int64_t{1} << 53;  // integers up to this are exact in a double
  const auto step = get_scalar<std::int64_t>(state, "step");
  if (step < 0 || step > most) throw InputError("checkpoint", "array step is {}, wanted 0 to 2^53", step);
  auto first = get<float>(state, "first", step == 0 ? 0 : parameters);
  auto second = get<float>(state, "second", first.size());
  if (count_finite(first) != first.size())
    throw InputError("checkpoint", "array first holds a number that is not finite");
  if (!std::ranges::all_of(second, [](float value) { return std::isfinite(value) && value >= 0; }))
    throw InputError("checkpoint", "array second holds a number that is negative or not finite");
  step_ = step;
  first_ = std::move(first);
  second_ = std::move(second);
}

}  // namespace emplace::nn
