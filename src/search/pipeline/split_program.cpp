#include "search/pipeline/split_program.hpp"

#include <algorithm>
#include <numeric>

#include "emplace/problem/grouping.hpp"
#include "search/common/units.hpp"
#include "search/exact/assignment.hpp"
#include "search/exact/cut_rows.hpp"
#include "search/pipeline/split_tensors.hpp"

namespace emplace::search {

namespace {
using Terms = std::vector<std::pair<int, double>>;
constexpr double longest_load = 1000;
constexpr double negligible = longest_load * 1e-9;
}  // namespace

SplitProgram::SplitProgram(const Problem& problem, const SplitProgramOptions& options)
    : problem_(problem), options_(options), kinds_(device_kinds(problem)), kind_of_device_(problem.device_count()) {
  for (std::size_t k = 0; k < kinds_.size(); ++k)
    for (const std::uint8_t d : kinds_[k].devices) kind_of_device_[d] = k;
  const Grouping grouping = make_grouping(problem, GroupingKind::colocation);
  unit_of_op_ = grouping.unit_of_op;
  units_ = grouping.count();
  unit_ = static_cast<double>(options.better_than.value_or(longest_compute(problem))) / longest_load;
  add_units();
  add_memory();
  add_symmetry();
  add_loads();
  if (options.contiguous) add_contiguity();
  add_cut_rows(program_, problem, unit_of_op_, [&](std::uint32_t unit, std::size_t d) { return x(unit, d); });
}

std::vector<std::uint8_t> SplitProgram::split_of(const std::vector<double>& solution) const {
  return assigned_devices(solution, unit_of_op_, problem_.device_count(),
                          [&](std::uint32_t unit) { return x(unit, 0); });
}

// Every unit is on exactly one device that can run it.
void SplitProgram::add_units() {
  const std::size_t devices = problem_.device_count();
  std::vector<char> runs(units_ * devices, 1);
  for (std::size_t op = 0; op < problem_.op_count(); ++op)
    for (std::size_t d = 0; d < devices; ++d)
      if (!problem_.can_run(OpId{op}, DeviceId{d})) runs[unit_of_op_[op] * devices + d] = 0;
  for (std::size_t unit = 0; unit < units_; ++unit) {
    Terms terms;
    for (std::size_t d = 0; d < devices; ++d)
      terms.emplace_back(program_.add_column(0, runs[unit * devices + d], 0, true), 1);
    program_.add_row(terms, 1, 1);
  }
}

void SplitProgram::add_memory() {
  std::vector<Bytes> bytes(units_, 0);
  for (std::size_t op = 0; op < problem_.op_count(); ++op) bytes[unit_of_op_[op]] += problem_.resident[op];
  const Bytes all = std::accumulate(bytes.begin(), bytes.end(), Bytes{0});
  for (std::size_t d = 0; d < problem_.device_count(); ++d) {
    const Bytes memory = problem_.devices[d].memory;
    if (memory >= all) continue;
    const MemoryRow row = memory_row(bytes, memory);
    Terms terms;
    for (std::size_t unit = 0; unit < units_; ++unit) {
      if (bytes[unit] > memory) program_.upper[static_cast<std::size_t>(x(unit, d))] = 0;
      if (row.size[unit] > 0) terms.emplace_back(x(unit, d), row.size[unit]);
    }
    program_.add_row(terms, -IntegerProgram::unlimited, row.memory);
  }
}

// Equal devices can be exchanged, so their numbering may be restricted. The first device is the one with most units of
// a set that only this kind can run: at least the size of the set divided by the number of devices, rounded up.
// (Without this row the relaxation, which divides units evenly, does not contain that of 25 equal units on 6 devices 5
// share one.) The other devices are numbered by the heaviest unit that each has: the i-th heaviest unit may only be on
// the first device or on one of the i after it.
void SplitProgram::add_symmetry() {
  const std::size_t kinds = kinds_.size();
  std::vector<double> work(units_ * kinds, 0);
  for (std::size_t op = 0; op < problem_.op_count(); ++op)
    for (std::size_t k = 0; k < kinds; ++k) {
      const Ticks time = kinds_[k].time(problem_, op);
      work[unit_of_op_[op] * kinds + k] +=
          time == cannot_run ? IntegerProgram::unlimited : static_cast<double>(time) / unit_;
    }
  const double limit = options_.better_than ? longest_load : IntegerProgram::unlimited;
  for (std::size_t k = 0; k < kinds; ++k) {
    const std::vector<std::uint8_t>& devices = kinds_[k].devices;
    std::vector<std::size_t> order(units_), only_here;
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, std::greater{}, [&](std::size_t unit) { return work[unit * kinds + k]; });
    for (const std::size_t unit : order) {
      bool elsewhere = false;
      for (std::size_t other = 0; other < kinds; ++other)
        elsewhere = elsewhere || (other != k && work[unit * kinds + other] <= limit);
      if (!elsewhere) only_here.push_back(unit);
    }
    // Chooses the set for which the first device has most work: the j heaviest units, of which it has at least the
    // lightest.
    std::size_t best = 0;
    double heaviest = 0;
    for (std::size_t j = 1; j <= only_here.size(); ++j) {
      double least = 0;
      for (std::size_t i = j - (j + devices.size() - 1) / devices.size(); i < j; ++i)
        least += work[only_here[i] * kinds + k];
      if (least > heaviest) best = j, heaviest = least;
    }
    Terms count;
    for (std::size_t i = 0; i < best; ++i) count.emplace_back(x(only_here[i], devices[0]), 1);
    if (best > 0)
      program_.add_row(count, static_cast<double>((best + devices.size() - 1) / devices.size()),
                       IntegerProgram::unlimited);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t later = i + 2; later < devices.size(); ++later)
        program_.upper[static_cast<std::size_t>(x(order[i], devices[later]))] = 0;
  }
}

void SplitProgram::add_loads() {
  const std::size_t devices = problem_.device_count(), kinds = kinds_.size();
  const std::size_t phases = options_.count.separate_phases ? 2 : 1;
  const SplitTensors tensors = split_tensors(problem_, kinds_, unit_of_op_);
  std::vector<double> work(units_ * kinds * phases, 0);
  for (std::size_t op = 0; op < problem_.op_count(); ++op) {
    const std::size_t phase = phases == 2 && problem_.is_backward(OpId{op}) ? 1 : 0;
    for (std::size_t k = 0; k < kinds; ++k)
      work[(unit_of_op_[op] * kinds + k) * phases + phase] +=
          static_cast<double>(std::max<Ticks>(0, kinds_[k].time(problem_, op))) / unit_;
  }
  const double limit = options_.better_than ? longest_load * (1 - resolution) : IntegerProgram::unlimited;
  std::vector<int> largest;
  Terms sum;
  for (std::size_t phase = 0; phase < phases; ++phase) {
    largest.push_back(program_.add_column(0, limit, 1, false));
    sum.emplace_back(largest.back(), 1);
  }
  if (options_.better_than) program_.add_row(sum, -IntegerProgram::unlimited, limit);

  for (std::size_t d = 0; d < devices; ++d) {
    const std::size_t k = kind_of_device_[d];
    std::vector<Terms> compute(phases), transfer(phases);
    for (std::size_t unit = 0; unit < units_; ++unit)
      for (std::size_t phase = 0; phase < phases; ++phase)
        if (const double time = work[(unit * kinds + k) * phases + phase]; time >= negligible)
          compute[phase].emplace_back(x(unit, d), time);
    for (std::uint32_t t = 0; kinds_[k].transfers.pays && t < tensors.count(); ++t) {
      const std::size_t phase = phases == 2 && tensors.backward[t] != 0 ? 1 : 0;
      const int producer = x(tensors.producer[t], d);
      // A column that is 1 if one end is on the device and the other is not.
      const auto pay = [&](Ticks time, bool missing, double here) {
        const double price = static_cast<double>(time) / unit_;
        if (!missing && price < negligible) return;
        const int paid = program_.add_column(0, missing ? 0 : 1, 0, false);
        for (const std::uint32_t unit : tensors.consumers[t]) {
          const Terms row = {{paid, 1}, {producer, -here}, {x(unit, d), here}};
          program_.add_row(row, 0, IntegerProgram::unlimited);
        }
        transfer[phase].emplace_back(paid, price);
      };
      pay(tensors.out[t * kinds + k], tensors.no_out[t * kinds + k] != 0, 1);
      pay(tensors.in[t * kinds + k], tensors.no_in[t * kinds + k] != 0, -1);
    }
    for (std::size_t phase = 0; phase < phases; ++phase) {
      // A separate row for work without transfers, which the solver's knapsack covers need.
      if (options_.better_than) program_.add_row(compute[phase], -IntegerProgram::unlimited, limit);
      Terms load = compute[phase];
      if (options_.count.overlap) {
        load.emplace_back(largest[phase], -1);
        program_.add_row(load, -IntegerProgram::unlimited, 0);
        load.clear();
      }
      load.insert(load.end(), transfer[phase].begin(), transfer[phase].end());
      load.emplace_back(largest[phase], -1);
      program_.add_row(load, -IntegerProgram::unlimited, 0);
    }
  }
}

// z of an op is 1 until a path has left the device; later ops of the path may not be on that device.
void SplitProgram::add_contiguity() {
  const std::size_t devices = problem_.device_count();
  std::vector<int> z(problem_.op_count() * devices, -1);
  for (const std::uint32_t op : problem_.topological) {
    if (problem_.is_backward(OpId{op})) continue;
    for (std::size_t d = 0; d < devices; ++d) {
      const int here = x(unit_of_op_[op], d);
      const int own = z[op * devices + d] = program_.add_column(0, 1, 0, false);
      program_.add_row(Terms{{own, 1}, {here, -1}}, 0, IntegerProgram::unlimited);
      for (const std::uint32_t tensor : problem_.inputs[op]) {
        const OpId from = problem_.producer[tensor];
        if (problem_.is_backward(from)) continue;
        program_.add_row(Terms{{own, 1}, {z[from.index() * devices + d], -1}}, -IntegerProgram::unlimited, 0);
        const int there = x(unit_of_op_[from.index()], d);
        if (there != here) program_.add_row(Terms{{own, 1}, {here, -1}, {there, 1}}, -IntegerProgram::unlimited, 1);
      }
    }
  }
}

}  // namespace emplace::search
