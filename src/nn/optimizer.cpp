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

namespace {

// m is at most a mean of slopes, or a sum of momentum^k times slopes; v is at most a mean of their squares.
double next_first_bound(const OptimizerOptions& o, double bound, double norm, double rate) {
  if (o.optimizer == "adam") return std::max(bound, norm);
  return o.momentum * bound + (o.optimizer == "rmsprop" ? rate * norm / o.epsilon : norm);
}
double next_second_bound(const OptimizerOptions& o, double bound, double norm) {
  return o.optimizer == "sgd" ? 0 : std::max(bound, norm * norm);
}

// Adam's corrections for the zeros that its moments start from, folded into the rate and epsilon.
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

bool all_finite(std::span<const float> before, std::span<const float> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (std::isfinite(before[i]) && !std::isfinite(values[i])) return false;
  return true;
}

}  // namespace

bool Optimizer::surely_finite(double norm, double largest, double rate) const {
  constexpr double limit = 1e38;  // a third of what a float holds, for the roundings
  const double first = next_first_bound(options_, first_bound_, norm, rate);
  double change = first;
  if (options_.optimizer == "adam") {
    const AdamStep step = adam_step(options_, step_, 1, rate);
    change = step.epsilon > 0 ? step.scale * first / step.epsilon : limit;
  } else if (options_.optimizer == "sgd") {
    change = rate * first;
  }
  return largest + change < limit && first < limit && next_second_bound(options_, second_bound_, norm) < limit;
}

void Optimizer::apply(std::span<float> p, std::span<const float> g, std::span<float> first, std::span<float> second,
                      float factor, double rate) const {
  if (options_.optimizer == "adam")
    return kernels<float>().adam(adam_step(options_, step_, factor, rate), p.data(), g.data(), first.data(),
                                 second.data(), p.size());
  const auto momentum = static_cast<float>(options_.momentum), scale = static_cast<float>(rate);
  const auto keep = static_cast<float>(options_.rho), take = static_cast<float>(1 - options_.rho);
  const auto epsilon = static_cast<float>(options_.epsilon);
  const bool rmsprop = options_.optimizer == "rmsprop";
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (!std::isfinite(p[i])) {
      first[i] = second[i] = 0;
      continue;
    }
    const float slope = factor * g[i];
    if (rmsprop) {
      second[i] = keep * second[i] + take * (slope * slope);
      first[i] = momentum * first[i] + scale * slope / (std::sqrt(second[i]) + epsilon);
      p[i] -= first[i];
    } else {
      first[i] = momentum * first[i] + slope;
      p[i] -= scale * first[i];
    }
  }
}

StepReport Optimizer::step(std::span<float> parameters, std::span<const float> gradient) {
  const std::size_t n = parameters.size();
  EMPLACE_CHECK(gradient.size() == n && (step_ == 0 || first_.size() == n), "{} parameters, {} gradients, {} moments",
                n, gradient.size(), first_.size());
  first_.resize(n);
  second_.resize(n);

  double squares = 0, largest = 0;
  kernels<float>().measure(parameters.data(), gradient.data(), n, squares, largest);
  const StepReport report{std::sqrt(squares), learning_rate_at(options_, step_)};
  if (!std::isfinite(squares)) throw NotFinite(fmt::format("the norm of the gradient is {}", report.gradient_norm));
  const bool clipped = options_.clip_norm > 0 && report.gradient_norm > options_.clip_norm;
  const double norm = clipped ? options_.clip_norm : report.gradient_norm;
  const auto factor = static_cast<float>(clipped ? options_.clip_norm / report.gradient_norm : 1.0);

  if (surely_finite(norm, largest, report.learning_rate)) {
    apply(parameters, gradient, first_, second_, factor, report.learning_rate);
  } else {
    // On copies, so that a step that fails leaves no trace.
    std::vector<float> next(parameters.begin(), parameters.end()), first = first_, second = second_;
    apply(next, gradient, first, second, factor, report.learning_rate);
    if (!all_finite(parameters, next) || !all_finite(parameters, first) || !all_finite(parameters, second))
      throw NotFinite(fmt::format("a step of learning rate {} along a gradient of norm {} leaves the finite numbers",
                                  report.learning_rate, report.gradient_norm));
    std::ranges::copy(next, parameters.begin());
    first_.swap(first);
    second_.swap(second);
  }
  first_bound_ = next_first_bound(options_, first_bound_, norm, report.learning_rate);
  second_bound_ = next_second_bound(options_, second_bound_, norm);
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
  first_bound_ = second_bound_ = 0;
  for (const float value : first) first_bound_ = std::max(first_bound_, static_cast<double>(std::abs(value)));
  for (const float value : second) second_bound_ = std::max(second_bound_, static_cast<double>(value));
  first_ = std::move(first);
  second_ = std::move(second);
}

}  // namespace emplace::nn
