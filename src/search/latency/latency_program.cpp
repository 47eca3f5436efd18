#include "search/latency/latency_program.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "emplace/base/error.hpp"
#include "emplace/problem/grouping.hpp"
#include "search/exact/assignment.hpp"
#include "search/exact/cut_rows.hpp"

namespace emplace::search {

namespace {

constexpr double latest_scaled = 1000;
constexpr double tiny_time = latest_scaled * 1e-9;

}  // namespace

LatencyProgram::LatencyProgram(const Problem& problem, std::size_t subgraphs, Ticks latest)
    : problem_(problem),
      subgraphs_(subgraphs),
      unit_(static_cast<double>(latest) / latest_scaled),
      kinds_(device_kinds(problem)),
      kind_of_device_(problem.device_count()) {
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    for (const std::uint8_t d : kinds_[k].devices) kind_of_device_[d] = k;
    // Ops on hosts never wait for each other, so a second host without a limit of memory is of no use.
    if (!kinds_[k].transfers.pays)
      hosts_.insert(hosts_.end(), kinds_[k].devices.begin(),
                    kinds_[k].memory == no_memory_limit ? kinds_[k].devices.begin() + 1 : kinds_[k].devices.end());
  }
  const Grouping grouping = make_grouping(problem, GroupingKind::colocation);
  unit_of_op_ = grouping.unit_of_op;
  units_ = grouping.count();
  add_units();
  add_memory();
  add_symmetry();
  add_times(latest);
  add_transfers();
  add_slots();
  add_hosts();
  add_contiguity();
  add_cut_rows(program_, problem, unit_of_op_, [&](std::uint32_t unit, std::size_t d) { return y(unit, d); });
}

std::vector<std::uint8_t> LatencyProgram::split_of(const std::vector<double>& solution) const {
  return assigned_devices(solution, unit_of_op_, problem_.device_count(),
                          [&](std::uint32_t unit) { return y(unit, 0); });
}

// Every unit is on exactly one device that can run it; with several subgraphs, every op is in one of its device.
void LatencyProgram::add_units() {
  const std::size_t devices = problem_.device_count();
  std::vector<char> runs(units_ * devices, 0);
  for (std::size_t d = 0; d < devices; ++d)
    if (kinds_[kind_of_device_[d]].transfers.pays || std::ranges::find(hosts_, d) != hosts_.end())
      for (std::size_t unit = 0; unit < units_; ++unit) runs[unit * devices + d] = 1;
  for (std::size_t op = 0; op < problem_.op_count(); ++op)
    for (std::size_t d = 0; d < devices; ++d)
      if (!problem_.can_run(OpId{op}, DeviceId{d})) runs[unit_of_op_[op] * devices + d] = 0;
  for (std::size_t unit = 0; unit < units_; ++unit) {
    Terms once;
    for (std::size_t d = 0; d < devices; ++d)
      once.emplace_back(program_.add_column(0, runs[unit * devices + d], 0, true), 1);
    program_.add_row(once, 1, 1);
  }
  for (std::uint8_t d = 0; d < devices; ++d)
    for (std::size_t i = 0; kinds_[kind_of_device_[d]].transfers.pays && i < subgraphs_; ++i)
      slots_.push_back({d, 0, 0});
  if (subgraphs_ == 1) return;
  first_part_ = static_cast<int>(program_.columns());
  for (std::uint32_t op = 0; op < problem_.op_count(); ++op) {
    std::vector<Terms> parts(devices);
    for (const Slot& slot : slots_) parts[slot.device].emplace_back(program_.add_column(0, 1, 0, true), 1);
    for (std::size_t d = 0; d < devices; ++d) {
      if (parts[d].empty()) continue;
      parts[d].emplace_back(y(unit_of_op_[op], d), -1);
      program_.add_row(parts[d], 0, 0);
    }
  }
}

void LatencyProgram::add_memory() {
  std::vector<Bytes> bytes(units_, 0);
  for (std::size_t op = 0; op < problem_.op_count(); ++op) bytes[unit_of_op_[op]] += problem_.resident[op];
  const Bytes all = std::accumulate(bytes.begin(), bytes.end(), Bytes{0});
  for (std::size_t d = 0; d < problem_.device_count(); ++d) {
    const Bytes memory = problem_.devices[d].memory;
    if (memory >= all) continue;
    const MemoryRow row = memory_row(bytes, memory);
    Terms terms;
    for (std::size_t unit = 0; unit < units_; ++unit) {
      if (bytes[unit] > memory) program_.upper[static_cast<std::size_t>(y(unit, d))] = 0;
      if (row.size[unit] > 0) terms.emplace_back(y(unit, d), row.size[unit]);
    }
    at_most(terms, row.memory);
  }
}

// Of equal accelerators, one may have a unit only if the one before has an earlier unit: `used` is at most 1 if that
// one has any of the units so far, else 0.
void LatencyProgram::add_symmetry() {
  for (const DeviceKind& kind : kinds_)
    for (std::size_t i = 1; kind.transfers.pays && i < kind.devices.size(); ++i) {
      int used = -1;
      for (std::size_t unit = 0; unit < units_; ++unit) {
        Terms may{{y(unit, kind.devices[i]), 1}};
        if (used >= 0) may.emplace_back(used, -1);
        at_most(may, 0);
        const int more = program_.add_column(0, 1, 0, false);
        Terms grows{{more, 1}, {y(unit, kind.devices[i - 1]), -1}};
        if (used >= 0) grows.emplace_back(used, -1);
        at_most(grows, 0);
        used = more;
      }
    }
}

// L(v) is at least the length of the longest path to v, each op at its least time. Ops of one subgraph run one after
// the other, so that a path takes as long inside a subgraph.
void LatencyProgram::add_times(Ticks latest) {
  const double most = scaled(latest) * (1 - resolution);
  latency_ = program_.add_column(0, most, 1, false);
  end_.resize(problem_.op_count());
  inner_.resize(problem_.op_count());
  std::vector<Ticks> head(problem_.op_count(), 0);
  for (const std::uint32_t op : problem_.topological) {
    for (const std::uint32_t t : problem_.inputs[op]) head[op] = std::max(head[op], head[problem_.producer[t].index()]);
    Ticks least = cannot_run;
    for (std::size_t d = 0; d < problem_.device_count(); ++d) {
      const Ticks time = problem_.time(OpId{op}, DeviceId{d});
      if (time != cannot_run && (least == cannot_run || time < least)) least = time;
    }
    head[op] += std::max<Ticks>(least, 0);
    longest_path_ = std::max(longest_path_, head[op]);
    const double earliest = std::min(scaled(head[op]), most);
    inner_[op] = program_.add_column(earliest, most, 0, false);
    end_[op] = program_.add_column(earliest, most, 0, false);
    at_least({{end_[op], 1}, {inner_[op], -1}}, 0);
    at_least({{latency_, 1}, {end_[op], -1}}, 0);
  }
  for (Slot& slot : slots_) {
    slot.start = program_.add_column(0, most, 0, false);
    slot.finish = program_.add_column(0, most, 0, false);
    at_least({{latency_, 1}, {slot.finish, -1}}, 0);
  }
}

// Columns that are 1 if the tensor's producer is outside the slot and this consumer in it, or the other way round. If
// it is the tensor's only consumer, they are those of the tensor.
LatencyProgram::Crossing LatencyProgram::add_crossing(int producer, int consumer, const Crossing& whole) {
  const auto add = [&](int of_tensor, int inside, int outside) {
    const int column = program_.add_column(0, program_.upper[static_cast<std::size_t>(of_tensor)], 0, false);
    at_least({{column, 1}, {inside, -1}, {outside, 1}}, 0);
    at_least({{of_tensor, 1}, {column, -1}}, 0);
    return column;
  };
  return {add(whole.in, consumer, producer), add(whole.out, producer, consumer)};
}

// in and out of each slot, and the times inside a subgraph: an op is done only after its producers, the transfers
// between them, and itself. These rows follow from the others, but not in the relaxation, which they make much
// stronger.
void LatencyProgram::add_transfers() {
  load_.resize(slots_.size());
  for (std::uint32_t t = 0; t < problem_.tensor_count(); ++t) {
    const std::uint32_t from = problem_.producer[t].value;
    const std::set<std::uint32_t> consumers(problem_.consumers[t].begin(), problem_.consumers[t].end());
    std::map<std::uint32_t, Terms> after;  // by consumer: what passes between the ends of the two ops
    for (const std::uint32_t to : consumers) after[to] = {};
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const simulate::HostTransfers& times = kinds_[kind_of_device_[slots_[s].device]].transfers;
      const auto missing = [](Ticks time) { return time == simulate::HostTransfers::no_route; };
      const Crossing whole{program_.add_column(0, missing(times.in[t]) ? 0 : 1, 0, false),
                           program_.add_column(0, missing(times.out[t]) ? 0 : 1, 0, false)};
      transfers_.push_back(whole);
      const double in = missing(times.in[t]) ? 0 : scaled(times.in[t]);
      const double out = missing(times.out[t]) ? 0 : scaled(times.out[t]);
      if (in >= tiny_time) load_[s].emplace_back(whole.in, in);
      if (out >= tiny_time) load_[s].emplace_back(whole.out, out);
      std::map<int, Crossing> known;  // by the consumer's column
      for (const std::uint32_t to : consumers) {
        if (x(to, s) == x(from, s)) continue;
        if (known.count(x(to, s)) == 0) known[x(to, s)] = add_crossing(x(from, s), x(to, s), whole);
        if (in >= tiny_time) after[to].emplace_back(known[x(to, s)].in, -in);
        if (out >= tiny_time) after[to].emplace_back(known[x(to, s)].out, -out);
      }
    }
    for (auto& [to, terms] : after) {
      terms.insert(terms.end(), {{inner_[to], 1}, {inner_[from], -1}});
      for (std::size_t d = 0; d < problem_.device_count(); ++d)
        if (const double time = scaled(problem_.time(OpId{std::size_t{to}}, DeviceId{d})); time >= tiny_time)
          terms.emplace_back(y(unit_of_op_[to], d), -time);
      at_least(terms, 0);
    }
  }
}

// A slot starts when all that it takes is there, and takes its ops' times and transfers. Rows with `latest` have no
// effect unless the op is in the slot, or its result is taken.
void LatencyProgram::add_slots() {
  const double latest = latest_scaled;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const Slot& slot = slots_[s];
    Terms takes = load_[s];
    std::vector<double> work(program_.columns(), 0);
    for (std::uint32_t op = 0; op < problem_.op_count(); ++op) {
      const double time = scaled(problem_.time(OpId{std::size_t{op}}, DeviceId{std::size_t{slot.device}}));
      if (time >= tiny_time) work[static_cast<std::size_t>(x(op, s))] += time;
      at_least({{end_[op], 1}, {slot.finish, -1}, {x(op, s), -latest}}, -latest);
    }
    for (std::size_t column = 0; column < work.size(); ++column)
      if (work[column] > 0) takes.emplace_back(static_cast<int>(column), work[column]);
    takes.insert(takes.end(), {{slot.start, 1}, {slot.finish, -1}});
    program_.add_row(takes, 0, 0);
    for (std::uint32_t t = 0; t < problem_.tensor_count(); ++t)
      at_least(
          {{slot.start, 1}, {end_[problem_.producer[t].index()], -1}, {transfers_[t * slots_.size() + s].in, -latest}},
          -latest);
    if (s > 0 && slots_[s - 1].device == slot.device) at_least({{slot.start, 1}, {slots_[s - 1].finish, -1}}, 0);
  }
}

// An op on a host takes its time after its last producer; wherever it is, it does not end before one of them.
void LatencyProgram::add_hosts() {
  for (std::uint32_t op = 0; op < problem_.op_count(); ++op) {
    Terms own{{end_[op], 1}};
    for (const std::uint8_t d : hosts_)
      if (const double time = scaled(problem_.time(OpId{std::size_t{op}}, DeviceId{std::size_t{d}})); time >= tiny_time)
        own.emplace_back(y(unit_of_op_[op], d), -time);
    at_least(own, 0);
    std::set<std::uint32_t> producers;
    for (const std::uint32_t t : problem_.inputs[op]) producers.insert(problem_.producer[t].value);
    for (const std::uint32_t from : producers) {
      Terms after = own;
      after.emplace_back(end_[from], -1);
      at_least(after, 0);
    }
  }
}

// z of an op is 1 until a path has left the slot; later ops of the path may not be in that slot.
void LatencyProgram::add_contiguity() {
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    std::vector<int> z(problem_.op_count(), -1);
    for (const std::uint32_t op : problem_.topological) {
      z[op] = program_.add_column(0, 1, 0, false);
      at_least({{z[op], 1}, {x(op, s), -1}}, 0);
      for (const std::uint32_t tensor : problem_.inputs[op]) {
        const std::uint32_t from = problem_.producer[tensor].value;
        at_most({{z[op], 1}, {z[from], -1}}, 0);
        if (x(from, s) != x(op, s)) at_most({{z[op], 1}, {x(op, s), -1}, {x(from, s), 1}}, 1);
      }
    }
  }
}

}  // namespace emplace::search
