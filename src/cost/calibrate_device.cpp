#include "cost/calibrate_device.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/statistics.hpp"
#include "base/text.hpp"
#include "cost/robust_fit.hpp"
#include "cost/roofline.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

// Profilers report whole microseconds.
constexpr double resolution_s = 1e-6;
// Weight of the prior (the fit of all classes), in relative residuals: one op whose time is off by 3 % has the same
// weight as a coefficient that is off by 100 %.
constexpr double prior_weight = 0.03;
// Neither the launch overhead nor a figure of a class is estimated from fewer ops that show it.
constexpr std::size_t ops_that_show_a_figure = 3;

double four_digits(double value) {
  double out = value;
  parse_number(fmt::format("{:.4g}", value), out);
  return out;
}

double peak_of(const machine::MachineDevice& device, DType dtype) {
  auto at = device.peak_flops.find(name_of(dtype));
  if (at == device.peak_flops.end()) at = device.peak_flops.find("default");
  if (at == device.peak_flops.end())
    throw InputError("calibrate", "ops compute in {}, for which device {} gives no peak_flops; add one, or a default",
                     name_of(dtype), quote(device.name));
  return at->second;
}

// The terms of a fit: the launches (0), the seconds at the peak, and the bytes.
constexpr std::size_t compute_term = 1, traffic_term = 2;
FitRow fit_row(const TimedOp& op, const machine::MachineDevice& device) {
  return {{op.launches, op.flops > 0 ? op.flops / peak_of(device, op.dtype) : 0, op.bytes}, op.seconds};
}

struct ClassRows {
  OpClass cls = OpClass::other;
  std::vector<FitRow> rows;
  double peak = 0;  // FLOP/s for the dtype of its op with the most FLOPs; 0: no op has FLOPs
  bool all_compute = true;
  std::optional<double> named;  // the efficiency that the machine names for this class
  FitPrior prior;
  Coefficients fitted{};
  std::size_t compute_bound = 0;  // rows

  // The sum of a term over all ops of the class.
  [[nodiscard]] double seconds_of(std::size_t term) const {
    double sum = 0;
    for (const FitRow& row : rows) sum += fitted[term] * row.features[term];
    return sum;
  }
  [[nodiscard]] double launches_per_op() const {
    double sum = 0;
    for (const FitRow& row : rows) sum += row.features[0];
    return sum / static_cast<double>(rows.size());
  }
  [[nodiscard]] bool bound_by_memory() const { return seconds_of(traffic_term) > seconds_of(compute_term); }
  void count_compute_bound() {
    compute_bound = 0;
    for (const FitRow& row : rows)
      if (row.features[compute_term] > 0 &&
          fitted[compute_term] * row.features[compute_term] >= fitted[traffic_term] * row.features[traffic_term])
        ++compute_bound;
  }
  [[nodiscard]] bool shows_efficiency() const { return compute_bound >= ops_that_show_a_figure; }
};

std::vector<ClassRows> rows_by_class(const machine::MachineDevice& device, const std::vector<const TimedOp*>& ops) {
  std::vector<ClassRows> classes;
  for (const OpClass cls : op_classes()) {
    if (cls == OpClass::free) continue;
    ClassRows found;
    found.cls = cls;
    if (const auto own = device.efficiency.find(name_of(cls)); own != device.efficiency.end())
      found.named = own->second;
    double most = 0;
    for (const TimedOp* op : ops) {
      if (op->cls != cls) continue;
      found.rows.push_back(fit_row(*op, device));
      found.all_compute = found.all_compute && op->flops > 0;
      if (op->flops > most) {
        most = op->flops;
        found.peak = peak_of(device, op->dtype);
      }
    }
    if (!found.rows.empty()) classes.push_back(std::move(found));
  }
  return classes;
}

// A fit of all classes for one overlap.
struct DeviceFit {
  double overlap = 0;
  std::vector<ClassRows> classes;
  Coefficients pooled{};   // all classes together
  double bytes_per_s = 0;  // the largest bandwidth
  double launch_s = 0;
  double efficiency_spread = 1.0;  // relative error to expect of an efficiency that was not fitted
};

// The usual difference (of logarithms) between the efficiencies of a device's classes, relative to what is named.
constexpr double spread_of_classes = 0.35;

// The probability that the machine's efficiencies are those of another machine, given their mean error (a logarithm)
// over `count` classes; see `calibrate`.
double doubt_of(double error, double count) {
  constexpr double before = 0.1, spread = spread_of_classes, spread_elsewhere = 1.6;
  const auto density = [&](double variance) { return std::exp(-0.5 * error * error / variance) / std::sqrt(variance); };
  const double here = (1 - before) * density(spread * spread * (1 + 1 / count));
  const double elsewhere = before * density(spread_elsewhere * spread_elsewhere);
  return elsewhere / (here + elsewhere);
}

// How far the machine's efficiencies are off where they can be checked; see `calibrate`.
void correct_named_efficiencies(DeviceFit& fit) {
  double sum = 0, level = 0, count = 0;
  for (const ClassRows& cls : fit.classes)
    if (cls.named && cls.shows_efficiency()) {
      const double fitted = -std::log(cls.fitted[compute_term]);
      sum += fitted - std::log(*cls.named);
      level += fitted;
      ++count;
    }
  if (count == 0) return;
  constexpr double least_error = 0.3;
  const double doubt = doubt_of(sum / count, count);
  const double left = std::abs(sum / count - sum / (count + 1)), between_classes = std::sqrt(2.0) * spread_of_classes;
  fit.efficiency_spread = std::max(least_error, std::expm1((1 - doubt) * left + doubt * between_classes));
  for (ClassRows& cls : fit.classes) {
    if (!cls.named || cls.shows_efficiency() || cls.peak == 0) continue;
    const double corrected = std::log(*cls.named) + sum / (count + 1);
    cls.prior.centre[compute_term] = std::max(1.0, std::exp(-(1 - doubt) * corrected - doubt * level / count));
    cls.prior.fixed[compute_term] = true;
  }
}

DeviceFit fit_with_overlap(const machine::MachineDevice& given, std::vector<ClassRows> classes, double overlap) {
  DeviceFit fit;
  fit.overlap = overlap;
  fit.classes = std::move(classes);
  std::vector<FitRow> all;
  for (const ClassRows& cls : fit.classes) all.insert(all.end(), cls.rows.begin(), cls.rows.end());
  // Lower bounds: no efficiency above 1, no bandwidth above a hundred times the machine's.
  Coefficients lower{0, 1, 1 / (100 * given.memory_bytes_per_s)};
  fit.pooled = robust_fit(all, lower, {}, resolution_s, overlap);
  const auto fit_class = [&](ClassRows& cls) {
    cls.fitted = robust_fit(cls.rows, lower, cls.prior, resolution_s, overlap);
  };
  // The memory bandwidth is estimated from memory-bound classes only; the times of others would fit any bandwidth.
  fit.bytes_per_s = 1 / fit.pooled[traffic_term];
  for (ClassRows& cls : fit.classes) {
    cls.prior = {.centre = fit.pooled, .weight = prior_weight, .fixed = {}};
    fit_class(cls);
    if (cls.bound_by_memory()) fit.bytes_per_s = std::max(fit.bytes_per_s, 1 / cls.fitted[traffic_term]);
  }
  lower[traffic_term] = 1 / fit.bytes_per_s;
  for (ClassRows& cls : fit.classes) {
    fit_class(cls);
    cls.count_compute_bound();
  }
  correct_named_efficiencies(fit);
  fit.launch_s = -1;
  for (ClassRows& cls : fit.classes) {
    if (cls.prior.fixed[compute_term]) fit_class(cls);
    if (cls.rows.size() >= ops_that_show_a_figure && (fit.launch_s < 0 || cls.fitted[0] < fit.launch_s))
      fit.launch_s = cls.fitted[0];
  }
  if (fit.launch_s < 0) fit.launch_s = fit.pooled[0];
  return fit;
}

void set_figures(machine::MachineDevice& device, const ClassRows& fit, double launch_s) {
  const std::string cls = name_of(fit.cls);
  const auto& [constant, inverse_efficiency, seconds_per_byte] = fit.fitted;
  const double extra_s = std::max(0.0, constant - launch_s) * fit.launches_per_op();  // half_* count once for an op
  const bool on_flops = fit.all_compute && !fit.bound_by_memory();
  if (fit.peak > 0) device.efficiency[cls] = four_digits(1 / inverse_efficiency);
  device.memory_efficiency[cls] = std::min(1.0, four_digits(1 / (seconds_per_byte * device.memory_bytes_per_s)));
  device.half_flops[cls] = on_flops ? four_digits(extra_s * fit.peak / inverse_efficiency) : 0;
  device.half_bytes[cls] = on_flops ? 0 : four_digits(extra_s / seconds_per_byte);
}

machine::MachineDevice device_with(const machine::MachineDevice& given, const DeviceFit& fit) {
  machine::MachineDevice device = given;
  device.overlap = fit.overlap;
  device.launch_overhead_s = four_digits(fit.launch_s);
  device.memory_bytes_per_s = four_digits(fit.bytes_per_s);
  device.efficiency["default"] = four_digits(1 / fit.pooled[compute_term]);
  device.memory_efficiency["default"] =
      std::min(1.0, four_digits(1 / (fit.pooled[traffic_term] * device.memory_bytes_per_s)));
  device.half_flops["default"] = 0;
  device.half_bytes["default"] = four_digits(std::max(0.0, fit.pooled[0] - fit.launch_s) / fit.pooled[traffic_term]);
  for (const ClassRows& cls : fit.classes) set_figures(device, cls, device.launch_overhead_s);
  return device;
}

double relative_error(double predicted, double measured) {
  return std::abs(predicted - measured) / (resolution_s + 0.5 * (predicted + measured));
}

// The mean over the ops of the relative error, which is at most 2.
double mean_error(const machine::MachineDevice& device, const std::vector<const TimedOp*>& ops) {
  const Roofline roofline(device);
  double sum = 0, count = 0;
  for (const TimedOp* op : ops) {
    if (op->cls == OpClass::free) continue;
    sum += relative_error(predicted_seconds(roofline, *op, device.name), op->seconds);
    ++count;
  }
  return count > 0 ? sum / count : 0;
}

// Two thirds of the errors of normally distributed times are below this multiple of their median.
constexpr double median_to_deviation = 1.4826;

ClassTrust trust_of(const ClassRows& cls, const DeviceFit& fit, const machine::MachineDevice& device,
                    const std::vector<const TimedOp*>& ops) {
  ClassTrust trust;
  trust.cls = cls.cls;
  trust.samples = cls.rows.size();
  trust.compute_bound = cls.compute_bound;
  trust.efficiency = cls.peak > 0 ? 1 / cls.fitted[compute_term] : 0;
  trust.bytes_per_s = 1 / cls.fitted[traffic_term];
  const std::size_t memory_bound = trust.samples - trust.compute_bound;
  trust.efficiency_from = cls.peak == 0                   ? FigureSource::none
                          : cls.shows_efficiency()        ? FigureSource::fitted
                          : cls.prior.fixed[compute_term] ? FigureSource::machine
                                                          : FigureSource::all_classes;
  trust.bandwidth_from = memory_bound >= ops_that_show_a_figure ? FigureSource::fitted
                         : memory_bound > 0                     ? FigureSource::few
                                                                : FigureSource::all_classes;
  const Roofline roofline(device);
  std::vector<double> errors;
  for (const TimedOp* op : ops)
    if (op->cls == cls.cls)
      errors.push_back(relative_error(predicted_seconds(roofline, *op, device.name), op->seconds));
  // A fit of three coefficients to few ops passes too close to them; a single op says nothing about its own error.
  constexpr double least_error = 0.05;
  const double samples = static_cast<double>(trust.samples), terms = static_cast<double>(fit_terms);
  trust.expected_error =
      std::max(least_error, median_to_deviation * median(std::move(errors))) * std::sqrt(1 + terms / samples);
  if (trust.samples < ops_that_show_a_figure) trust.expected_error = std::max(trust.expected_error, 0.3);
  const bool certain = trust.efficiency_from == FigureSource::fitted || trust.efficiency_from == FigureSource::none;
  trust.compute_error = certain ? trust.expected_error : std::max(trust.expected_error, fit.efficiency_spread);
  return trust;
}

std::vector<std::string> peaks_too_low(const DeviceFit& fit, const std::string& device) {
  std::vector<std::string> warnings;
  for (const ClassRows& cls : fit.classes)
    if (cls.peak > 0 && !cls.bound_by_memory() && cls.fitted[compute_term] <= 1)
      warnings.push_back(
          fmt::format("ops of class {} reach the whole peak that the machine gives for device {}; it may be too low",
                      name_of(cls.cls), quote(device)));
  return warnings;
}

}  // namespace

const char* name_of(FigureSource source) {
  switch (source) {
    case FigureSource::none: return "none";
    case FigureSource::fitted: return "fitted";
    case FigureSource::few: return "few";
    case FigureSource::machine: return "machine";
    case FigureSource::all_classes: return "all classes";
  }
  return "none";
}

FittedDevice fitted_device(const machine::MachineDevice& given, const std::vector<const TimedOp*>& ops) {
  const std::vector<ClassRows> classes = rows_by_class(given, ops);
  if (classes.empty()) throw InputError("calibrate", "no measured op does any work, so there is nothing to fit");
  // Times that add up are the rule; another overlap must be clearly better.
  constexpr double clearly = 0.97;
  DeviceFit best = fit_with_overlap(given, classes, 0);
  double error = clearly * mean_error(device_with(given, best), ops);
  for (const double overlap : {0.25, 0.5, 0.75, 1.0}) {
    DeviceFit fit = fit_with_overlap(given, classes, overlap);
    const double its = mean_error(device_with(given, fit), ops);
    if (!(its < error)) continue;
    error = its;
    best = std::move(fit);
  }
  FittedDevice result{device_with(given, best), {}, peaks_too_low(best, given.name)};
  for (const ClassRows& cls : best.classes) result.trust.push_back(trust_of(cls, best, result.device, ops));
  return result;
}

}  // namespace emplace::cost
