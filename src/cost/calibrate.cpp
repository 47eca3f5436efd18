#include "cost/calibrate.hpp"
#include "base/text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cost/calibrate_device.hpp"
#include "cost/roofline.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

double rounded(double value) {
  double out = value;
  parse_number(fmt::format("{:.4g}", value), out);
  return out;
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
    double launches = 0;
    for (const TimedOp* kernel : kernels) {
      if (kernel->cls != cls || cls == OpClass::free) continue;
      members.push_back(*kernel);
      launches += kernel->launches;
    }
    if (members.empty()) continue;
    const PredictionError sum = prediction_error(device, name_of(cls), members);
    const double launches_s = device.launch_overhead_s * launches;
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
                       const std::string& column, const machine::MachineDevice& device) {
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
  machine.devices = {device};
  machine.devices[0].name = column;
  std::vector<DeviceProfile> profiles(1);
  const bool named = profile.devices.size() > 1 || !profile.devices.front().empty();
  profiles[0].device = named ? column : "";
  profiles[0].profile = std::move(profile);
  MeasuredTimes measured = measured_times(kernels, graph, machine, profiles, options.fuse);

  TimedModel model;
  model.name = name;
  model.use = std::move(measured.profiles.front());
  model.warnings = profiles[0].profile.warnings;
  refuse_other_model(model.use, graph);
  for (std::string& warning : profile_warnings({&model.use, 1}, kernels.graph))
    model.warnings.push_back(std::move(warning));
  for (std::size_t i = 0; i < kernels.graph.ops.size(); ++i) {
    const OpCost cost = cost_of(kernels.graph, OpId{i});
    // A part of a time that several kernels took together was divided by estimates, to which nothing must be fitted.
    const bool known = !std::isnan(measured.seconds[i]) && (measured.shared.empty() || !measured.shared[i]);
    (known ? model.ops : model.rest)
        .push_back({cost.cls, compute_dtype(kernels.graph, OpId{i}), cost.flops,
                    static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written),
                    known ? measured.seconds[i] : 0, kernels.graph.ops[i].type, cost.launches});
  }
  return model;
}

Calibration calibrate(const machine::MachineDevice& device, std::span<const TimedModel> models,
                      std::span<const TimedModel> fused_runs) {
  const std::vector<const TimedOp*> ops = ops_of(models, nullptr);
  Calibration calibration;
  machine::MachineDevice start = device;
  // Figures that are fitted to kernels of fused runs contain what fusion saves.
  if (std::ranges::any_of(models, [](const TimedModel& model) { return model.use.fused_run; }))
    start.fused_speedup.clear();
  FittedDevice fit = fitted_device(start, ops);
  calibration.device = std::move(fit.device);
  calibration.warnings = std::move(fit.warnings);
  for (const OpClass cls : op_classes()) {
    std::vector<TimedOp> members;
    for (const TimedOp* op : ops)
      if (op->cls == cls) members.push_back(*op);
    if (members.empty()) continue;
    ClassFit& found = calibration.classes.emplace_back(
        ClassFit{cls, prediction_error(calibration.device, name_of(cls), members), {}});
    for (const ClassTrust& trust : fit.trust)
      if (trust.cls == cls) found.trust = trust;
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
      calibration.left_out.push_back(prediction_error(fitted_device(start, others).device, model.name, model.ops));
  }
  set_speedups(calibration.device, ops_of(fused_runs, nullptr));
  for (const TimedModel& run : fused_runs) {
    calibration.kernels.push_back(prediction_error(calibration.device, run.name, run.ops, true));
    calibration.runs.push_back(run_prediction(calibration.device, models, run));
    const std::vector<const TimedOp*> others = ops_of(models, &run.name), kernels = ops_of(fused_runs, &run.name);
    if (others.empty() || kernels.empty()) continue;
    machine::MachineDevice fitted = fitted_device(start, others).device;
    set_speedups(fitted, kernels);
    calibration.left_out_runs.push_back(run_prediction(fitted, models, run));
  }
  return calibration;
}

}  // namespace emplace::cost
