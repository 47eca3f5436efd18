// Compares predictions with measurements.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/statistics.hpp"
#include "cost/calibrate.hpp"
#include "cost/roofline.hpp"

namespace emplace::cost {

namespace {

// Ranks from 1; equal values have the mean of their ranks.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> out(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) out[order[i]] = 0.5 * static_cast<double>(begin + end + 1);
    begin = end;
  }
  return out;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = 0.5 * static_cast<double>(x.size() + 1);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::numeric_limits<double>::quiet_NaN();
}

double predicted_seconds(const Roofline& roofline, const TimedOp& op, const std::string& name) {
  GraphOp node;
  node.name = name;
  OpCost cost;
  cost.cls = op.cls;
  cost.flops = op.flops;
  cost.bytes_read = static_cast<Bytes>(op.bytes);
  cost.launches = op.launches;
  return roofline.seconds(cost, op.dtype, node, name);
}

PredictionError prediction_error(const machine::MachineDevice& device, const std::string& name,
                                 std::span<const TimedOp> ops, bool fused) {
  const Roofline roofline(device, fused);
  PredictionError error;
  error.model = name;
  error.ops = ops.size();
  std::vector<double> measured, predicted, relative;
  for (const TimedOp& op : ops) {
    measured.push_back(op.seconds);
    predicted.push_back(predicted_seconds(roofline, op, name));
    error.measured_s += measured.back();
    error.predicted_s += predicted.back();
    if (op.seconds > 0) relative.push_back(std::abs(predicted.back() / op.seconds - 1));
  }
  error.spearman = spearman(measured, predicted);
  if (!relative.empty()) error.median_error = median(std::move(relative));
  return error;
}

}  // namespace emplace::cost
