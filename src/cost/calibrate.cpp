#include "cost/calibrate.hpp"
#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

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
// The launch overhead is not estimated from a class with fewer ops.
constexpr std::size_t ops_that_show_a_launch = 3;

double rounded(double value) {
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

// The terms of a fit: a constant (0), the seconds at the peak, and the bytes.
constexpr std::size_t compute_term = 1, traffic_term = 2;
FitRow fit_row(const TimedOp& op, const machine::MachineDevice& device) {
  return {{1, op.flops > 0 ? op.flops / peak_of(device, op.dtype) : 0, op.bytes}, op.seconds};
}

struct ClassRows {
  OpClass cls = OpClass::other;
  std::vector<FitRow> rows;
  double peak = 0;  // FLOP/s for the dtype of its op with the most FLOPs; 0: no op has FLOPs
  bool all_compute = true;
  Coefficients fitted{};

  // The sum of a term over all ops of the class.
  [[nodiscard]] double seconds_of(std::size_t term) const {
    double sum = 0;
    for (const FitRow& row : rows) sum += fitted[term] * row.features[term];
    return sum;
  }
  [[nodiscard]] bool bound_by_memory() const { return seconds_of(traffic_term) > seconds_of(compute_term); }
};

std::vector<ClassRows> rows_by_class(const machine::MachineDevice& device, const std::vector<const TimedOp*>& ops) {
  std::vector<ClassRows> classes;
  for (const OpClass cls : op_classes()) {
    if (cls == OpClass::free) continue;
    ClassRows found;
    found.cls = cls;
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

void set_figures(machine::MachineDevice& device, const ClassRows& fit, double launch_s) {
  const std::string cls = name_of(fit.cls);
  const auto& [constant, inverse_efficiency, seconds_per_byte] = fit.fitted;
  const double extra_s = std::max(0.0, constant - launch_s);
  const bool on_flops = fit.all_compute && !fit.bound_by_memory();
  if (fit.peak > 0) device.efficiency[cls] = rounded(1 / inverse_efficiency);
  device.memory_efficiency[cls] = std::min(1.0, rounded(1 / (seconds_per_byte * device.memory_bytes_per_s)));
  device.half_flops[cls] = on_flops ? rounded(extra_s * fit.peak / inverse_efficiency) : 0;
  device.half_bytes[cls] = on_flops ? 0 : rounded(extra_s / seconds_per_byte);
}

machine::MachineDevice fitted_device(const machine::MachineDevice& given, const std::vector<const TimedOp*>& ops,
                                     std::vector<std::string>* warnings = nullptr) {
  std::vector<ClassRows> classes = rows_by_class(given, ops);
  std::vector<FitRow> all;
  for (const ClassRows& cls : classes) all.insert(all.end(), cls.rows.begin(), cls.rows.end());
  if (all.empty()) throw InputError("calibrate", "no measured op does any work, so there is nothing to fit");

  // Lower bounds: no efficiency above 1, no bandwidth above a hundred times the machine's.
  Coefficients lower{0, 1, 1 / (100 * given.memory_bytes_per_s)};
  const Coefficients pooled = robust_fit(all, lower, {}, resolution_s);
  const auto fit_class = [&](ClassRows& cls) {
    cls.fitted = robust_fit(cls.rows, lower, {pooled, prior_weight}, resolution_s);
  };
  // The memory bandwidth is estimated from memory-bound classes only; the times of others would fit any bandwidth.
  double fastest = 1 / pooled[traffic_term];
  for (ClassRows& cls : classes) {
    fit_class(cls);
    if (cls.bound_by_memory()) fastest = std::max(fastest, 1 / cls.fitted[traffic_term]);
  }
  lower[traffic_term] = 1 / fastest;
  double launch_s = -1;
  for (ClassRows& cls : classes) {
    fit_class(cls);
    if (cls.rows.size() >= ops_that_show_a_launch && (launch_s < 0 || cls.fitted[0] < launch_s))
      launch_s = cls.fitted[0];
  }
  if (launch_s < 0) launch_s = pooled[0];

  machine::MachineDevice device = given;
  device.overlap = 0;
  device.launch_overhead_s = rounded(launch_s);
  device.memory_bytes_per_s = rounded(fastest);
  device.efficiency["default"] = rounded(1 / pooled[compute_term]);
  device.memory_efficiency["default"] = std::min(1.0, rounded(1 / (pooled[traffic_term] * device.memory_bytes_per_s)));
  device.half_flops["default"] = 0;
  device.half_bytes["default"] = rounded(std::max(0.0, pooled[0] - launch_s) / pooled[traffic_term]);
  for (const ClassRows& cls : classes) {
    set_figures(device, cls, device.launch_overhead_s);
    if (warnings != nullptr && cls.peak > 0 && !cls.bound_by_memory() &&
        cls.fitted[compute_term] <= lower[compute_term])
      warnings->push_back(
          fmt::format("ops of class {} reach the whole peak that the machine gives for device {}; it may be too low",
                      name_of(cls.cls), quote(given.name)));
  }
  return device;
}

// The ops of all models but the one called `without` (nullptr: of all models).
std::vector<const TimedOp*> ops_of(std::span<const TimedModel> models, const std::string* without) {
  std::vector<const TimedOp*> ops;
  for (const TimedModel& model : models)
    if (without == nullptr || model.name != *without)
      for (const TimedOp& op : model.ops) ops.push_back(&op);
  return ops;
}

// Launch overheads stay the same: a better layout speeds up only the rest of a kernel's time.
void set_speedups(machine::MachineDevice& device, const std::vector<const TimedOp*>& kernels) {
  constexpr double most = 100;
  for (const OpClass cls : op_classes()) {
    std::vector<TimedOp> members;
    for (const TimedOp* kernel : kernels)
      if (kernel->cls == cls && cls != OpClass::free) members.push_back(*kernel);
    if (members.empty()) continue;
    const PredictionError sum = prediction_error(device, name_of(cls), members);
    const double launches_s = device.launch_overhead_s * static_cast<double>(members.size());
    const double predicted = sum.predicted_s - launches_s, measured = sum.measured_s - launches_s;
    if (!(predicted > 0)) continue;
    device.fused_speedup[name_of(cls)] = rounded(measured * most > predicted ? predicted / measured : most);
  }
}

double predicted_sum(const machine::MachineDevice& device, const TimedModel& model, bool fused) {
  return prediction_error(device, model.name, model.ops, fused).predicted_s +
         prediction_error(device, model.name, model.rest, fused).predicted_s;
}

RunPrediction run_prediction(const machine::MachineDevice& device, std::span<const TimedModel> models,
                             const TimedModel& run) {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  RunPrediction prediction{run.name, unknown, unknown, predicted_sum(device, run, true), run.use.run_s};
  if (std::isnan(prediction.fused_measured_s)) prediction.fused_measured_s = run.use.device_s.front();
  for (const TimedModel& model : models) {
    if (model.name != run.name) continue;
    prediction.unfused_s = predicted_sum(device, model, false);
    prediction.unfused_measured_s = model.use.device_s.front();
  }
  return prediction;
}

}  // namespace

TimedModel timed_model(const std::string& name, const Graph& graph, const RooflineOptions& options, Profile profile,
                       const std::string& device) {
  if (options.contract != "none" || options.coarsen > 0)
    throw InputError("calibrate", "figures are fitted to ops as a runtime launches them, so none may be merged");
  graph.validate(name);
  if (is_fused_run(profile, graph) != options.fuse)
    throw InputError(profile.file, "its rows are {}",
                     options.fuse
                         ? "no kernels of a run that fused ops: none names a tensor that an op makes"
                         : "kernels of a run that fused ops, not ops: give it to calibrate with --fused, together with "
                           "a profile of the ops one by one");
  const PassResult kernels = kernel_passes(graph, options, name);
  // The machine has only the device that is calibrated, so all times of the profile are times of this device.
  machine::Machine machine;
  machine.name = name;
  machine.devices.resize(1);
  machine.devices[0].name = device;
  std::vector<DeviceProfile> profiles(1);
  const bool named = profile.devices.size() > 1 || !profile.devices.front().empty();
  profiles[0].device = named ? device : "";
  profiles[0].profile = std::move(profile);
  MeasuredTimes measured = measured_times(kernels, graph, machine, profiles, options.fuse);

  TimedModel model;
  model.name = name;
  model.use = std::move(measured.profiles.front());
  model.warnings = profiles[0].profile.warnings;
  for (std::string& warning : profile_warnings({{}, {model.use}}, kernels.graph))
    model.warnings.push_back(std::move(warning));
  for (std::size_t i = 0; i < kernels.graph.ops.size(); ++i) {
    const OpCost cost = cost_of(kernels.graph, OpId{i});
    const bool known = !std::isnan(measured.seconds[i]);
    (known ? model.ops : model.rest)
        .push_back({cost.cls, compute_dtype(kernels.graph, OpId{i}), cost.flops,
                    static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written),
                    known ? measured.seconds[i] : 0, kernels.graph.ops[i].type});
  }
  return model;
}

Calibration calibrate(const machine::MachineDevice& device, std::span<const TimedModel> models,
                      std::span<const TimedModel> fused_runs) {
  const std::vector<const TimedOp*> ops = ops_of(models, nullptr);
  Calibration calibration;
  calibration.device = fitted_device(device, ops, &calibration.warnings);
  for (const OpClass cls : op_classes()) {
    std::vector<TimedOp> members;
    for (const TimedOp* op : ops)
      if (op->cls == cls) members.push_back(*op);
    if (members.empty()) continue;
    calibration.classes.push_back({cls, prediction_error(calibration.device, name_of(cls), members)});
  }
  std::map<std::string, std::vector<TimedOp>> of_type;
  for (const TimedOp* op : ops)
    if (!op->type.empty()) of_type[op->type].push_back(*op);
  for (const auto& [type, members] : of_type)
    calibration.types.push_back(prediction_error(calibration.device, type, members));
  for (const TimedModel& model : models) {
    calibration.models.push_back(prediction_error(calibration.device, model.name, model.ops));
    const std::vector<const TimedOp*> others = ops_of(models, &model.name);
    if (!others.empty())
      calibration.left_out.push_back(prediction_error(fitted_device(device, others), model.name, model.ops));
  }
  set_speedups(calibration.device, ops_of(fused_runs, nullptr));
  for (const TimedModel& run : fused_runs) {
    calibration.kernels.push_back(prediction_error(calibration.device, run.name, run.ops, true));
    calibration.runs.push_back(run_prediction(calibration.device, models, run));
    const std::vector<const TimedOp*> others = ops_of(models, &run.name), kernels = ops_of(fused_runs, &run.name);
    if (others.empty() || kernels.empty()) continue;
    machine::MachineDevice fitted = fitted_device(device, others);
    set_speedups(fitted, kernels);
    calibration.left_out_runs.push_back(run_prediction(fitted, models, run));
  }
  return calibration;
}

}  // namespace emplace::cost
