#include "search/bounds/load_weights.hpp"

#include <ClpSimplex.hpp>
#include <algorithm>
#include <cmath>

#include "emplace/problem/grouping.hpp"
#include "search/common/solver_process.hpp"
#include "search/common/units.hpp"

namespace emplace::search {

namespace {

constexpr double weight_scale = 0x1p40;
// Limit of the comparisons of times on two devices; above it, only some devices are used as references.
constexpr std::size_t most_ratios = 1'000'000'000;

// The load of each device, in the LP's unit, if every unit is on the device with its least weighted time.
std::vector<double> loads_at(const UnitTimes& units, const std::vector<double>& weights, double unit) {
  std::vector<double> load(units.devices, 0);
  for (std::size_t u = 0; u < units.count(); ++u) {
    std::size_t best = units.devices;
    double least = 0;
    for (std::size_t d = 0; d < units.devices; ++d) {
      const Ticks time = units.time[u * units.devices + d];
      if (time == cannot_run) continue;
      const double weighted = weights[d] * static_cast<double>(time);
      if (best == units.devices || weighted < least) {
        best = d;
        least = weighted;
      }
    }
    load[best] += static_cast<double>(units.time[u * units.devices + best]) / unit;
  }
  return load;
}

}  // namespace

UnitTimes unit_times(const Problem& problem, const std::vector<std::uint8_t>& possible) {
  const std::size_t devices = problem.device_count();
  const Grouping grouping = make_grouping(problem, GroupingKind::colocation);
  UnitTimes units{devices, {}};
  units.time.reserve(grouping.count() * devices);
  for (std::size_t u = 0; u < grouping.count(); ++u) {
    bool any = false;
    for (std::size_t d = 0; d < devices; ++d) {
      Ticks sum = 0;
      for (const std::uint32_t op : grouping.members[u]) {
        if (possible[op * devices + d] == 0) {
          sum = cannot_run;
          break;
        }
        sum += problem.op_time[op * devices + d];
      }
      any = any || sum != cannot_run;
      units.time.push_back(sum);
    }
    if (!any) units.time.resize(units.time.size() - devices);
  }
  return units;
}

Ticks load_certificate(const UnitTimes& units, const std::vector<std::int64_t>& weights) {
  Wide sum = 0, total = 0;
  for (const std::int64_t weight : weights) total += weight;
  if (total == 0) return 0;
  for (std::size_t u = 0; u < units.count(); ++u) {
    Wide least = -1;
    for (std::size_t d = 0; d < units.devices; ++d)
      if (const Ticks time = units.time[u * units.devices + d]; time != cannot_run)
        if (const Wide weighted = Wide{time} * weights[d]; least < 0 || weighted < least) least = weighted;
    sum += least;  // every unit can run on some device
  }
  return static_cast<Ticks>((sum + total - 1) / total);
}

LoadWeights rounded_weights(const UnitTimes& units, const std::vector<double>& weights) {
  double largest = 0;
  for (const double weight : weights) largest = std::max(largest, weight);
  LoadWeights rounded;
  for (const double weight : weights)
    rounded.of_device.push_back(weight > 0 ? std::llround(weight / largest * weight_scale) : 0);
  rounded.bound = load_certificate(units, rounded.of_device);
  return rounded;
}

LoadWeights quick_load_weights(const UnitTimes& units) {
  LoadWeights best = rounded_weights(units, std::vector<double>(units.devices, 1));
  const std::size_t step = 1 + units.time.size() * units.devices / most_ratios;
  const std::vector<std::size_t> like = first_equal_column(units.time, units.devices);
  std::vector<std::uint8_t> tried(units.devices, 0);
  for (std::size_t reference = 0; reference < units.devices; reference += step) {
    if (tried[like[reference]]++ > 0) continue;  // an equal device gives the same weights
    std::vector<double> weight(units.devices, 0);
    for (std::size_t u = 0; u < units.count(); ++u) {
      const Ticks* const time = units.time.data() + u * units.devices;
      if (time[reference] <= 1) continue;  // neither a cost of 0 nor cannot_run gives a speed
      for (std::size_t d = 0; d < units.devices; ++d)
        if (time[d] != cannot_run)
          weight[d] = std::max(weight[d], static_cast<double>(time[reference]) / static_cast<double>(time[d]));
    }
    LoadWeights next = rounded_weights(units, weight);
    if (next.bound > best.bound) best = std::move(next);
  }
  return best;
}

namespace {

// In a child process.
LoadWeights improved_weights(const UnitTimes& units, LoadWeights start, const Deadline& deadline) {
  // Maximise t over weights that sum to 1, with t <= sum of weight x load for the loads of every assignment found so
  // far. The result is above the optimum until the best assignments are among them.
  const auto unit = static_cast<double>(start.bound);
  const int devices = static_cast<int>(units.devices);
  ClpSimplex program;
  program.setLogLevel(0);
  program.resize(0, devices + 1);
  program.setOptimizationDirection(-1);
  for (int d = 0; d < devices; ++d) program.setColumnBounds(d, 0, 1);
  program.setColumnBounds(devices, 0, static_cast<double>(total_limit));
  program.setObjectiveCoefficient(devices, 1);
  std::vector<int> columns(units.devices + 1);
  for (int c = 0; c <= devices; ++c) columns[static_cast<std::size_t>(c)] = c;
  program.addRow(devices, columns.data(), std::vector<double>(units.devices, 1).data(), 1, 1);

  double sum = 0;
  for (const std::int64_t weight : start.of_device) sum += static_cast<double>(weight);
  std::vector<double> weights;
  for (const std::int64_t weight : start.of_device) weights.push_back(static_cast<double>(weight) / sum);
  for (int round = 0; round < 500 && !deadline.passed(); ++round) {
    std::vector<double> row = loads_at(units, weights, unit);
    for (double& load : row) load = -load;
    row.push_back(1);
    program.addRow(devices + 1, columns.data(), row.data(), -COIN_DBL_MAX, 0);
    program.dual();
    if (program.status() != 0) break;
    const double* const values = program.primalColumnSolution();
    weights.assign(values, values + devices);
    LoadWeights next = rounded_weights(units, weights);
    const double above = values[devices] * unit;
    if (next.bound > start.bound) start = std::move(next);
    if (above <= static_cast<double>(start.bound) * (1 + 1e-9)) break;
  }
  return start;
}

}  // namespace

LoadWeights best_load_weights(const UnitTimes& units, LoadWeights start, const Deadline& deadline) {
  if (units.devices < 2 || units.count() == 0 || start.bound == 0 || deadline.passed()) return start;
  const auto text = run_solver(
      "CLP", "the bound of the devices' loads may be smaller", [&] { return deadline.passed(); },
      [&](const std::function<bool()>& stopped) {
        LoadWeights best = improved_weights(units, start, Deadline(deadline.left(), stopped));
        best.of_device.push_back(best.bound);
        return text_of(best.of_device);
      });
  if (!text) return start;
  std::vector<std::int64_t> of_device = numbers_of<std::int64_t>(*text);
  const Ticks bound = of_device.back();
  of_device.pop_back();
  return {std::move(of_device), bound};
}

}  // namespace emplace::search
