#include "fit/step_chain.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "emplace/base/error.hpp"

namespace emplace::fit {

namespace {

UnitKind kind_of(const language::Unit& unit) {
  if (!unit.part) return unit.name == "input" ? UnitKind::input : UnitKind::output;
  switch (*unit.part) {
    case language::Part::attention: return UnitKind::attention;
    case language::Part::feed_forward: return UnitKind::feed_forward;
    case language::Part::experts: return UnitKind::experts;
  }
  return UnitKind::layer;
}

// The unit of each op: that of its co-location group.
std::vector<std::size_t> unit_of_ops(const Problem& problem, std::span<const Unit> units) {
  std::map<std::string_view, std::size_t> named;
  for (std::size_t u = 0; u < units.size(); ++u) named.emplace(units[u].name, u);
  std::vector<std::size_t> unit_of_op(problem.op_count());
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    const GroupId group = problem.group[op];
    const auto found = group.is_none() ? named.end() : named.find(problem.group_names[group.index()]);
    EMPLACE_CHECK(found != named.end(), "op {} is of no unit", problem.op_names[op]);
    unit_of_op[op] = found->second;
  }
  return unit_of_op;
}

class StepReader {
 public:
  StepReader(const Problem& problem, Chain& chain)
      : problem_(problem),
        chain_(chain),
        devices_(problem.device_count()),
        unit_of_(unit_of_ops(problem, chain.units)) {
    members_.resize(chain.size());
    rank_.resize(problem.op_count());
    for (std::size_t i = 0; i < problem.topological.size(); ++i) rank_[problem.topological[i]] = i;
    for (const std::uint32_t op : problem.topological) members_[unit_of_[op]].push_back(op);
  }

  bool read() {
    for (std::size_t u = 0; u < chain_.size(); ++u) add_times(u);
    for (std::size_t u = 0; u < chain_.size(); ++u) add_transfers(u);
    bool serial = true;
    for (std::size_t u = 0; u < chain_.size(); u = chain_.after(u)) serial = check_serial(u) && serial;
    return serial;
  }

 private:
  void add_times(std::size_t u) {
    for (std::size_t d = 0; d < devices_; ++d) {
      Ticks& sum = chain_.time[u * devices_ + d];
      for (const std::uint32_t op : members_[u]) {
        const Ticks time = problem_.time(OpId{op}, DeviceId{d});
        sum = time == cannot_run || sum == cannot_run ? cannot_run : sum + time;
      }
    }
  }

  // Tensors from ops of unit `from` to ops of unit `to`.
  [[nodiscard]] std::vector<std::uint32_t> tensors_between(std::size_t from, std::size_t to) const {
    std::vector<std::uint32_t> tensors;
    for (const std::uint32_t op : members_[from])
      for (const std::uint32_t tensor : problem_.outputs[op])
        if (std::ranges::any_of(problem_.consumers[tensor],
                                [&](std::uint32_t reader) { return unit_of_[reader] == to; }))
          tensors.push_back(tensor);
    return tensors;
  }

  // The longest transfer of those tensors that the last op to send anything makes.
  void fill(std::vector<Ticks>& into, std::size_t u, const std::vector<std::uint32_t>& tensors) {
    if (tensors.empty()) return;
    const OpId last = problem_.producer[tensors.back()];
    for (std::size_t a = 0; a < devices_; ++a)
      for (std::size_t b = 0; b < devices_; ++b) {
        if (a == b) continue;
        Ticks& ticks = into[(u * devices_ + a) * devices_ + b];
        if (!problem_.has_route(DeviceId{a}, DeviceId{b})) {
          ticks = cannot_run;
          continue;
        }
        for (const std::uint32_t tensor : tensors)
          if (problem_.producer[tensor] == last)
            ticks = std::max(ticks, problem_.transfer(TensorId{tensor}, DeviceId{a}, DeviceId{b}));
      }
  }

  void add_transfers(std::size_t u) {
    const std::size_t before = chain_.before(u);
    if (before == chain_.size()) return;
    fill(chain_.to, u, tensors_between(before, u));
    if (!chain_.is_experts(u)) return;
    fill(chain_.back, u, tensors_between(u, before));
    for (const std::uint32_t op : beside(before, u))
      for (std::size_t d = 0; d < devices_; ++d) {
        Ticks& sum = chain_.beside[before * devices_ + d];
        if (chain_.time_on(before, d) != cannot_run) sum += problem_.time(OpId{op}, DeviceId{d});
      }
  }

  [[nodiscard]] bool reads_any(std::uint32_t op, const std::set<std::uint32_t>& of) const {
    return std::ranges::any_of(problem_.inputs[op],
                               [&](std::uint32_t tensor) { return of.contains(problem_.producer[tensor].value); });
  }
  [[nodiscard]] bool feeds_any(std::uint32_t op, const std::set<std::uint32_t>& of) const {
    for (const std::uint32_t tensor : problem_.outputs[op])
      for (const std::uint32_t reader : problem_.consumers[tensor])
        if (of.contains(reader)) return true;
    return false;
  }

  // Ops of the feed-forward unit that neither need its experts nor are needed by them.
  [[nodiscard]] std::vector<std::uint32_t> beside(std::size_t unit, std::size_t experts) {
    std::set<std::uint32_t> later(members_[experts].begin(), members_[experts].end()), earlier = later;
    for (const std::uint32_t op : members_[unit])
      if (reads_any(op, later)) later.insert(op);
    for (std::size_t i = members_[unit].size(); i-- > 0;)
      if (feeds_any(members_[unit][i], earlier)) earlier.insert(members_[unit][i]);
    std::vector<std::uint32_t> neither;
    for (const std::uint32_t op : members_[unit])
      if (!later.contains(op) && !earlier.contains(op)) neither.push_back(op);
    return neither;
  }

  // The one op of the unit that the next unit reads; the last op if nothing does.
  [[nodiscard]] std::optional<std::uint32_t> exit_of(std::size_t u) const {
    const std::size_t next = chain_.after(u);
    if (next == chain_.size()) return members_[u].empty() ? std::nullopt : std::optional(members_[u].back());
    std::optional<std::uint32_t> exit;
    for (const std::uint32_t tensor : tensors_between(u, next)) {
      const std::uint32_t op = problem_.producer[tensor].value;
      if (exit && *exit != op) return std::nullopt;
      exit = op;
    }
    return exit;
  }

  // Whether all ops of the unit and of its experts need the exit of the unit before, and are needed by its own exit.
  bool check_serial(std::size_t u) {
    const auto exit = exit_of(u);
    if (!exit) return false;
    std::vector<std::uint32_t> ops = members_[u];
    if (chain_.has_experts(u)) ops.insert(ops.end(), members_[u + 1].begin(), members_[u + 1].end());
    std::ranges::sort(ops, std::ranges::less(), [&](std::uint32_t op) { return rank_[op]; });
    std::set<std::uint32_t> after, before;
    const std::size_t previous = chain_.before(u);
    if (previous != chain_.size()) {
      const auto entry = exit_of(previous);
      if (!entry) return false;
      after.insert(*entry);
      for (const std::uint32_t op : ops) {
        if (!reads_any(op, after)) return false;
        after.insert(op);
      }
    }
    before.insert(*exit);
    for (std::size_t i = ops.size(); i-- > 0;) {
      if (ops[i] == *exit) continue;
      if (!feeds_any(ops[i], before)) return false;
      before.insert(ops[i]);
    }
    return true;
  }

  const Problem& problem_;
  Chain& chain_;
  std::size_t devices_;
  std::vector<std::size_t> unit_of_, rank_;          // of each op: its unit, its place in the topological order
  std::vector<std::vector<std::uint32_t>> members_;  // of each unit, in topological order
};

}  // namespace

std::vector<Unit> units_of_step(std::span<const language::Unit> units) {
  std::vector<Unit> out;
  for (const language::Unit& unit : units)
    out.push_back({unit.name, kind_of(unit), unit.layer, unit.weights, unit.cache, 0});
  return out;
}

StepChain chain_of(const Problem& problem, std::vector<Unit> units) {
  const std::size_t devices = problem.device_count(), count = units.size();
  StepChain out{.chain = {.devices = {},
                          .room = {},
                          .units = std::move(units),
                          .time = std::vector<Ticks>(count * devices, 0),
                          .to = std::vector<Ticks>(count * devices * devices, 0),
                          .back = std::vector<Ticks>(count * devices * devices, 0),
                          .beside = std::vector<Ticks>(count * devices, 0)}};
  for (const Device& device : problem.devices) {
    out.chain.devices.push_back(device.name);
    out.chain.room.push_back(device.memory);
  }
  out.is_serial = StepReader(problem, out.chain).read();
  return out;
}

Placement placement_of(const Problem& problem, std::span<const Unit> units, const Assignment& assignment) {
  Placement placement;
  for (const std::size_t u : unit_of_ops(problem, units)) placement.device.push_back(assignment[u]);
  return placement;
}

}  // namespace emplace::fit
