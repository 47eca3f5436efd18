// Calibration: a device's figures from measured op times.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "emplace/cost/lower.hpp"
#include "emplace/cost/profile.hpp"
#include "emplace/graph/graph.hpp"
#include "emplace/graph/op_table.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::cost {

// A measured op with what the roofline knows of it.
struct TimedOp {
  OpClass cls = OpClass::other;
  DType dtype = DType::unknown;  // that it computes in
  double flops = 0;
  double bytes = 0;
  double seconds = 0;
  std::string type = {};  // "": not said
};

// The ops of one model, in the order of the graph.
struct TimedModel {
  std::string name;
  std::vector<TimedOp> ops;   // that were measured
  std::vector<TimedOp> rest;  // that were not; 0 s
  ProfileUse use;
  std::vector<std::string> warnings;  // sentences for people
};

// Lays a profile over a graph, after the passes of `options`. `device`: the column to take of a table of several. With
// `options.fuse` the ops are the kernels of a fused run. InputError as measured_times, where the options merge ops, and
// for the profile of a fused run without `fuse` or the other way round.
TimedModel timed_model(const std::string& name, const Graph& graph, const RooflineOptions& options, Profile profile,
                       const std::string& device);

// How well a device's figures predict measured ops.
struct PredictionError {
  std::string model;
  std::size_t ops = 0;
  double measured_s = 0, predicted_s = 0;  // sums
  double median_error = 0;                 // median of |predicted / measured - 1|, of ops measured above 0 s
  double spearman = 0;                     // rank correlation of the ops' times; NaN with fewer than two ops
};
// `fused`: the ops are kernels of a fused run.
PredictionError prediction_error(const machine::MachineDevice& device, const std::string& name,
                                 std::span<const TimedOp> ops, bool fused = false);

// Spearman's rank correlation, equal values sharing the mean of their ranks; NaN where one side is constant.
double spearman(std::span<const double> a, std::span<const double> b);

struct ClassFit {
  OpClass cls = OpClass::other;
  PredictionError error;  // of the class's ops in all models; `model` is the class's name
};

// A whole model: its ops one by one, and a run that fuses.
struct RunPrediction {
  std::string model;
  // Sum of all ops, predicted and as profiled; NaN where the model has no profile of its ops.
  double unfused_s = 0, unfused_measured_s = 0;
  // The run: predicted, and as the profile has it, else the sum of its kernels.
  double fused_s = 0, fused_measured_s = 0;
};

struct Calibration {
  machine::MachineDevice device;             // with the fitted figures; peak and memory size as they were
  std::vector<ClassFit> classes;             // those that were measured, in the order of op_classes()
  std::vector<PredictionError> types;        // the same ops by type: what a class holds together
  std::vector<PredictionError> models;       // of the ops that it was fitted to, one a model
  std::vector<PredictionError> left_out;     // one a model, fitted to the other models only; empty with one model
  std::vector<PredictionError> kernels;      // of the kernels of fused runs, one a run
  std::vector<RunPrediction> runs;           // one a fused run
  std::vector<RunPrediction> left_out_runs;  // one a run, fitted to the other models and runs only; empty with one
  std::vector<std::string> warnings;
};

// Fits, for each op class, seconds = a + flops / (peak x efficiency) + bytes / bandwidth by robust least squares on
// relative residuals (a >= 0, efficiency <= 1), drawn towards the fit of all classes together by the weight of a small
// fraction of one op, which decides where a class has too few different ops. The device then has
//   overlap = 0, launch_overhead_s = the smallest a of a class,
//   half_flops or half_bytes of a class = what is left of its a, on the side that dominates it,
//   memory_bytes_per_s = the largest bandwidth of a class, memory_efficiency = a class's share of it,
// rounded to four digits; classes that were not measured keep the machine's figures, or the defaults, which are the fit
// of all classes together. Ops of class `free` are not fitted: they are predicted to take no time.
//   fused_speedup of a class = what makes the total of its kernels in `fused_runs` right, given the figures above: one
// number for what a runtime gains by choosing layouts for a whole graph. Classes without a kernel keep the machine's.
// InputError if nothing is left to fit, or if the device lacks the peak of a dtype.
Calibration calibrate(const machine::MachineDevice& device, std::span<const TimedModel> models,
                      std::span<const TimedModel> fused_runs = {});

}  // namespace emplace::cost
