#include "emplace/cost/calibrate.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "emplace/base/error.hpp"
#include "emplace/cost/roofline.hpp"
#include "robust_fit.hpp"

namespace emplace {

namespace {

// Profilers count whole microseconds.
constexpr double resolution_s = 1e-6;
// Of the draw towards the fit of all classes, in relative residuals: one op whose time is off by 3 % weighs as much as
// a coefficient that is off by 100 %.
constexpr double prior_weight = 0.03;
// A class with fewer ops says little of what a launch costs.
constexpr std::size_t ops_that_show_a_launch = 3;

double rounded(double value) {
  double out = value;
  parse_number(fmt::format("{:.4g}", value), out);
  return out;
}

double peak_of(const MachineDevice& device, DType dtype) {
  auto at = device.peak_flops.find(name_of(dtype));
  if (at == device.peak_flops.end()) at = device.peak_flops.find("default");
  if (at == device.peak_flops.end())
    throw InputError("calibrate", "ops compute in {}, for which device {} gives no peak_flops; add one, or a default",
                     name_of(dtype), quote(device.name));
  return at->second;
}

// Constant, seconds at the peak, bytes.
constexpr std::size_t compute_term = 1, traffic_term = 2;
FitRow fit_row(const TimedOp& op, const MachineDevice& device) {
  return {{1, op.flops > 0 ? op.flops / peak_of(device, op.dtype) : 0, op.bytes}, op.seconds};
}

struct ClassRows {
  OpClass cls = OpClass::other;
  std::vector<FitRow> rows;
  double peak = 0;  // of its op of most FLOPs; 0: none has any
  bool all_compute = true;
  Coefficients fitted{};

  // What a term adds to all its ops.
  [[nodiscard]] double seconds_of(std::size_t term) const {
    double sum = 0;
    for (const FitRow& row : rows) sum += fitted[term] * row.features[term];
    return sum;
  }
  [[nodiscard]] bool bound_by_memory() const { return seconds_of(traffic_term) > seconds_of(compute_term); }
};

std::vector<ClassRows> rows_by_class(const MachineDevice& device, const std::vector<const TimedOp*>& ops) {
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

void set_figures(MachineDevice& device, const ClassRows& fit, double launch_s) {
  const std::string cls = name_of(fit.cls);
  const auto& [constant, inverse_efficiency, seconds_per_byte] = fit.fitted;
  const double extra_s = std::max(0.0, constant - launch_s);
  const bool on_flops = fit.all_compute && !fit.bound_by_memory();
  if (fit.peak > 0) device.efficiency[cls] = rounded(1 / inverse_efficiency);
  device.memory_efficiency[cls] = std::min(1.0, rounded(1 / (seconds_per_byte * device.memory_bytes_per_s)));
  device.half_flops[cls] = on_flops ? rounded(extra_s * fit.peak / inverse_efficiency) : 0;
  device.half_bytes[cls] = on_flops ? 0 : rounded(extra_s / seconds_per_byte);
}

MachineDevice fitted_device(const MachineDevice& given, const std::vector<const TimedOp*>& ops,
                            std::vector<std::string>* warnings = nullptr) {
  std::vector<ClassRows> classes = rows_by_class(given, ops);
  std::vector<FitRow> all;
  for (const ClassRows& cls : classes) all.insert(all.end(), cls.rows.begin(), cls.rows.end());
  if (all.empty()) throw InputError("calibrate", "no measured op does any work, so there is nothing to fit");

  // No efficiency above the peak, no bandwidth a hundred times the machine's.
  Coefficients lower{0, 1, 1 / (100 * given.memory_bytes_per_s)};
  const Coefficients pooled = robust_fit(all, lower, {}, resolution_s);
  const auto fit_class = [&](ClassRows& cls) {
    cls.fitted = robust_fit(cls.rows, lower, {pooled, prior_weight}, resolution_s);
  };
  // How fast memory is, ops that it bounds can say; times of others would allow any bandwidth.
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

  MachineDevice device = given;
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

std::vector<const TimedOp*> ops_of(std::span<const TimedModel> models, const TimedModel* without) {
  std::vector<const TimedOp*> ops;
  for (const TimedModel& model : models)
    if (&model != without)
      for (const TimedOp& op : model.ops) ops.push_back(&op);
  return ops;
}

}  // namespace

TimedModel timed_model(const std::string& name, const Graph& graph, const RooflineOptions& options, Profile profile,
                       const std::string& device) {
  if (options.fuse || options.contract != "none" || options.coarsen > 0)
    throw InputError("calibrate", "figures are fitted to ops as the graph has them, so none may be fused or merged");
  graph.validate(name);
  const PassResult passed = apply_passes(graph, options, name);
  // A machine of the one device that is calibrated: whatever the profile measured, it measured there.
  Machine machine;
  machine.name = name;
  machine.devices.resize(1);
  machine.devices[0].name = device;
  std::vector<DeviceProfile> profiles(1);
  const bool named = profile.devices.size() > 1 || !profile.devices.front().empty();
  profiles[0].device = named ? device : "";
  profiles[0].profile = std::move(profile);
  MeasuredTimes measured = measured_times(passed, graph, machine, profiles);

  TimedModel model;
  model.name = name;
  model.warnings = profiles[0].profile.warnings;
  for (std::string& warning : profile_warnings(measured, passed.graph)) model.warnings.push_back(std::move(warning));
  for (std::size_t i = 0; i < passed.graph.ops.size(); ++i) {
    if (std::isnan(measured.seconds[i])) continue;
    const OpCost cost = cost_of(passed.graph, OpId{i});
    model.ops.push_back({cost.cls, compute_dtype(passed.graph, OpId{i}), cost.flops,
                         static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written),
                         measured.seconds[i]});
  }
  model.use = std::move(measured.profiles.front());
  return model;
}

Calibration calibrate(const MachineDevice& device, std::span<const TimedModel> models) {
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
  for (const TimedModel& model : models) {
    calibration.models.push_back(prediction_error(calibration.device, model.name, model.ops));
    if (models.size() > 1)
      calibration.left_out.push_back(
          prediction_error(fitted_device(device, ops_of(models, &model)), model.name, model.ops));
  }
  return calibration;
}

}  // namespace emplace
