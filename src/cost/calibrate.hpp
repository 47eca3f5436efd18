// Calibration: fits a device's figures to measured op times.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cost/lower.hpp"
#include "cost/profile.hpp"
#include "emplace/graph/graph.hpp"
#include "emplace/machine/machine.hpp"
#include "graph/ops/op_table.hpp"

namespace emplace::cost {

class Roofline;

// A measured op with the inputs of the roofline model.
struct TimedOp {
  OpClass cls = OpClass::other;
  DType dtype = DType::unknown;  // in which it computes
  double flops = 0;
  double bytes = 0;
  double seconds = 0;
  std::string type = {};  // "" if unknown
  double launches = 1;    // OpCost::launches
};

// The ops of one model, in the order of the graph.
struct TimedModel {
  std::string name;
  std::vector<TimedOp> ops;   // the ops that were measured, each alone
  std::vector<TimedOp> rest;  // the ops that were not, with 0 s
  ProfileUse use;
  std::vector<std::string> warnings;  // sentences for users
};

// Matches a profile with the ops of a graph after the passes of `options`. `column` is the one to use if the profile is
// a table of several devices; the figures of `device` divide times that several ops took together. With `options.fuse`
// the ops are the kernels of a fused run. InputError as measured_times, if the options merge ops, and for the profile
// of a fused run without `fuse` or the reverse.
TimedModel timed_model(const std::string& name, const Graph& graph, const RooflineOptions& options, Profile profile,
                       const std::string& column, const machine::MachineDevice& device);

// How well a device's figures predict measured ops.
struct PredictionError {
  std::string model;
  std::size_t ops = 0;
  double measured_s = 0, predicted_s = 0;  // sums
  double median_error = 0;                 // median of |predicted / measured - 1| over ops measured above 0 s
  double spearman = 0;                     // rank correlation of the ops' times; NaN with fewer than two ops
};
// `fused`: whether the ops are kernels of a fused run.
PredictionError prediction_error(const machine::MachineDevice& device, const std::string& name,
                                 std::span<const TimedOp> ops, bool fused = false);

// The time of a measured op as the roofline predicts it. `name` begins messages.
double predicted_seconds(const Roofline& roofline, const TimedOp& op, const std::string& name);

// Spearman's rank correlation; equal values have the mean of their ranks. NaN if one side is constant.
double spearman(std::span<const double> a, std::span<const double> b);

// Where a figure of a class comes from: it has none (no op has FLOPs); it was fitted to three or more ops that this
// figure bounds, or to fewer; it is the machine's own (see `calibrate`); or it is that of all classes together.
enum class FigureSource { none, fitted, few, machine, all_classes };
const char* name_of(FigureSource source);

// How far the fitted figures of a class can be trusted.
struct ClassTrust {
  OpClass cls = OpClass::other;
  std::size_t samples = 0;
  std::size_t compute_bound = 0;  // samples whose arithmetic takes at least as long as their memory traffic
  FigureSource efficiency_from = FigureSource::none, bandwidth_from = FigureSource::none;
  double efficiency = 0;  // share of the peak; 0 without FLOPs
  double bytes_per_s = 0;
  // Relative error to expect of the time of one op: of an op like the samples, and of one that is bound by compute.
  double expected_error = 0, compute_error = 0;
};

struct ClassFit {
  OpClass cls = OpClass::other;
  PredictionError error;  // over the class's ops in all models; `model` is the class's name
  ClassTrust trust;
};

// Times of a whole model: of its ops run one by one, and of a fused run.
struct RunPrediction {
  std::string model;
  // Sum over all ops, predicted and measured; NaN if the model has no profile of its ops.
  double unfused_s = 0, unfused_measured_s = 0;
  // The fused run: predicted, and measured as a whole, or as the sum of its kernels if the profile has no whole run.
  double fused_s = 0, fused_measured_s = 0;
};

struct Calibration {
  machine::MachineDevice device;             // with the fitted figures; peak and memory size are unchanged
  std::vector<ClassFit> classes;             // the measured classes, in the order of op_classes()
  std::vector<PredictionError> types;        // over the same ops by type, of which a class has several
  std::vector<PredictionError> models;       // over the ops of the fit, one for each model
  std::vector<PredictionError> left_out;     // for each model, fitted to the other models only; empty with one model
  std::vector<PredictionError> kernels;      // over the kernels of each fused run
  std::vector<RunPrediction> runs;           // one for each fused run
  std::vector<RunPrediction> left_out_runs;  // for each run, fitted to the other models and runs only; empty with one
  std::vector<std::string> warnings;
};

// Fits, for each op class, seconds = a + flops / (peak x efficiency) + bytes / bandwidth by robust least squares on
// relative residuals (a >= 0, efficiency <= 1). A prior with the weight of a small fraction of one op draws each fit
// towards the fit of all classes together; it is decisive if a class has too few different ops. Ops that are bound by
// memory say nothing about a class's efficiency. So a class with fewer than three ops that are bound by compute keeps
// the efficiency that the machine names for it, corrected by the machine's error in the other classes. Let m be the
// mean, over the n classes that do have such ops, of log(fitted efficiency / named efficiency). Two things may be true:
//   - The machine describes this device. Then an error has a part that all classes share and a part that is a class's
//     own, both of a spread of s = 0.35 (a factor of 1.4), so that m is normal with the variance s^2 (1 + 1/n), and the
//     best estimate is the named efficiency, multiplied by exp(m n / (n + 1)).
//   - The machine is another one, or its peak is that of other cores. Then m has a spread of 1.6 (a factor of 5), and
//     neither the level of its efficiencies nor their ratio says anything: the best estimate is the geometric mean of
//     the fitted ones.
// Before anything is measured the second has the probability 0.1. Bayes' rule gives its probability given m: for
// factors of 1.4, 3 and 6 it is 0.04, 0.24 and 0.93 if one class was measured, 0.04, 0.56 and 1.00 with five. The
// logarithms of both estimates are averaged with these weights. If the machine does not name the class, the prior is
// all there is. The device then has
//   overlap = the one of 0, 0.25, 0.5, 0.75, 1 whose fit has the smallest mean error, or 0 if none is 3 % better,
//   launch_overhead_s = the smallest a of all classes,
//   half_flops or half_bytes of a class = the remainder of its a, on the side (FLOPs or bytes) that dominates the
//   class, memory_bytes_per_s = the largest bandwidth of all classes, memory_efficiency = a class's share of it,
// rounded to four digits. Classes that were not measured keep the machine's figures, or the defaults, which are the fit
// of all classes together. Ops of class `free` are not fitted: they are predicted to take no time.
//   fused_speedup of a class = the factor with which the total of its kernels in `fused_runs` is predicted exactly,
//   given
// the figures above: one number for the gain of a runtime that chooses layouts for a whole graph. Classes without a
// kernel keep the machine's figure.
// If the models are themselves fused runs (of a runtime that always fuses, such as OpenVINO), the figures are those of
// its kernels: there are no fused_runs then, and fused_speedup is left out. InputError if nothing is left to fit, or if
// the device lacks the peak of a dtype.
Calibration calibrate(const machine::MachineDevice& device, std::span<const TimedModel> models,
                      std::span<const TimedModel> fused_runs = {});

}  // namespace emplace::cost
