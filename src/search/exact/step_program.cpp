#include "search/exact/step_program.hpp"

#include <algorithm>

#include "search/exact/cut_rows.hpp"
#include "search/list/ready_list.hpp"

namespace emplace::search {

namespace {

constexpr double latest_in_units = 1000;

// N x N: 1 if the second op depends on the first.
std::vector<std::uint8_t> descendants(const StepModel& model) {
  std::vector<std::uint8_t> below(model.ops * model.ops, 0);
  for (auto op = model.topological.rbegin(); op != model.topological.rend(); ++op)
    for (const StepModel::Arc& arc : model.consumers[*op]) {
      below[*op * model.ops + arc.op] = 1;
      for (std::size_t i = 0; i < model.ops; ++i) below[*op * model.ops + i] |= below[arc.op * model.ops + i];
    }
  return below;
}

}  // namespace

StepProgram::StepProgram(const Problem& problem, const StepModel& model, Ticks latest)
    : problem_(problem),
      model_(model),
      units_(make_grouping(problem, GroupingKind::colocation)),
      unit_(static_cast<double>(latest) / latest_in_units) {
  add_columns(latest);
  add_memory();
  add_symmetry();
  add_load();
  add_arcs();
  add_pairs(latest);
  add_cut_rows(program_, problem, units_.unit_of_op,
               [&](std::uint32_t unit, std::size_t d) { return share_[unit * model_.devices + d]; });
}

void StepProgram::add_columns(Ticks latest) {
  makespan_ = program_.add_column(0, scaled(latest), 1, false);
  share_.assign(units_.count() * model_.devices, -1);
  for (std::size_t unit = 0; unit < units_.count(); ++unit) {
    Terms one;
    for (std::size_t d = 0; d < model_.devices; ++d) {
      const auto members = units_.members[unit];
      if (std::ranges::any_of(members, [&](std::uint32_t op) { return model_.time[op * model_.devices + d] == never; }))
        continue;
      one.emplace_back(share_[unit * model_.devices + d] = program_.add_column(0, 1, 0, true), 1);
    }
    program_.add_row(one, 1, 1);
  }
  for (std::uint32_t op = 0; op < model_.ops; ++op) {
    Ticks head = never, after = never;
    for (std::size_t d = 0; d < model_.devices; ++d) {
      const std::size_t at = op * model_.devices + d;
      if (x(op, d) < 0 || model_.end[at] == never) continue;
      head = std::min(head, model_.end[at] - model_.time[at]);
      after = std::min(after, later(model_.time[at], model_.tail[at]));
    }
    if (head == never) head = 0;  // the op has no device, so the program is infeasible
    head_.push_back(head);
    after_.push_back(std::min(after, latest));
    start_.push_back(
        program_.add_column(scaled(head), std::max(scaled(head), scaled(latest - after_.back())), 0, false));
    Terms ends{{makespan_, 1}, {start_.back(), -1}};
    put_time(ends, op, -1, true);
    program_.add_row(ends, 0, IntegerProgram::unlimited);
  }
}

void StepProgram::put_time(Terms& terms, std::uint32_t op, double factor, bool with_tail) const {
  for (std::size_t d = 0; d < model_.devices; ++d) {
    const std::size_t at = op * model_.devices + d;
    if (x(op, d) < 0) continue;
    const Ticks tail = with_tail && model_.tail[at] != never ? model_.tail[at] : 0;
    terms.emplace_back(x(op, d), factor * scaled(model_.time[at] + tail));
  }
}

void StepProgram::add_memory() {
  std::vector<Bytes> bytes(units_.count(), 0);
  for (std::size_t op = 0; op < model_.ops; ++op) bytes[units_.unit_of_op[op]] += model_.resident[op];
  for (std::size_t d = 0; d < model_.devices; ++d) {
    const MemoryRow row = memory_row(bytes, model_.memory[d]);
    Terms terms;
    for (std::size_t unit = 0; unit < units_.count(); ++unit)
      if (const int column = share_[unit * model_.devices + d]; column >= 0 && row.size[unit] > 0)
        terms.emplace_back(column, row.size[unit]);
    if (!terms.empty()) program_.add_row(terms, -IntegerProgram::unlimited, row.memory);
  }
}

// Of exchangeable devices, one may have a unit only if the one before has an earlier unit.
void StepProgram::add_symmetry() {
  for (std::size_t d = 0; d < model_.devices; ++d) {
    std::size_t before = d;
    while (before > 0 && model_.kind[--before] != model_.kind[d]) {
    }
    if (before == d || model_.kind[before] != model_.kind[d]) continue;
    for (std::size_t unit = 0; unit < units_.count(); ++unit) {
      if (share_[unit * model_.devices + d] < 0) continue;
      Terms terms{{share_[unit * model_.devices + d], 1}};
      for (std::size_t earlier = 0; earlier < unit; ++earlier)
        if (const int column = share_[earlier * model_.devices + before]; column >= 0) terms.emplace_back(column, -1);
      program_.add_row(terms, -IntegerProgram::unlimited, 0);
    }
  }
}

void StepProgram::add_load() {
  for (std::size_t d = 0; d < model_.devices; ++d) {
    Terms terms{{makespan_, 1}};
    for (std::size_t unit = 0; unit < units_.count(); ++unit) {
      if (share_[unit * model_.devices + d] < 0) continue;
      Ticks time = 0;
      for (const std::uint32_t op : units_.members[unit]) time += model_.time[op * model_.devices + d];
      terms.emplace_back(share_[unit * model_.devices + d], -scaled(time));
    }
    program_.add_row(terms, 0, IntegerProgram::unlimited);
  }
}

// start of the consumer >= end of the producer + transfer time. If the consumer is on e, the transfer time is at least
// sum over d of c(d, e) x(producer, d) - max c(., e) (1 - x(consumer, e)).
void StepProgram::add_arcs() {
  for (std::uint32_t from = 0; from < model_.ops; ++from)
    for (const StepModel::Arc& arc : model_.consumers[from]) {
      Terms plain{{start_[arc.op], 1}, {start_[from], -1}};
      put_time(plain, from, -1, false);
      program_.add_row(plain, 0, IntegerProgram::unlimited);
      if (units_.unit_of_op[from] == units_.unit_of_op[arc.op]) continue;
      for (std::size_t e = 0; e < model_.devices; ++e) {
        if (x(arc.op, e) < 0) continue;
        Ticks longest = 0;
        for (std::size_t d = 0; d < model_.devices; ++d) {
          if (x(from, d) < 0) continue;
          const Ticks transfer = model_.transfer_time(arc, d, e);
          if (transfer == never)
            program_.add_row(Terms{{x(from, d), 1}, {x(arc.op, e), 1}}, -IntegerProgram::unlimited, 1);
          else
            longest = std::max(longest, transfer);
        }
        if (longest == 0) continue;
        Terms terms = {{start_[arc.op], 1}, {start_[from], -1}, {x(arc.op, e), -scaled(longest)}};
        for (std::size_t d = 0; d < model_.devices; ++d) {
          if (x(from, d) < 0) continue;
          const Ticks transfer = model_.transfer_time(arc, d, e);
          terms.emplace_back(x(from, d),
                             -scaled(model_.time[from * model_.devices + d] + (transfer == never ? 0 : transfer)));
        }
        program_.add_row(terms, -scaled(longest), IntegerProgram::unlimited);
      }
    }
}

// Ops that do not depend on each other and share a device run one after the other.
void StepProgram::add_pairs(Ticks latest) {
  const std::vector<std::uint8_t> below = descendants(model_);
  for (std::uint32_t a = 0; a < model_.ops; ++a)
    for (std::uint32_t b = a + 1; b < model_.ops; ++b) {
      if (below[a * model_.ops + b] != 0 || below[b * model_.ops + a] != 0) continue;
      const int order = program_.add_column(0, 1, 0, true);  // 1: a runs first
      add_pair(a, b, order, 1, latest);
      add_pair(b, a, order, 0, latest);
    }
}

// start(second) >= start(first) + time(first) if both are on d and `order` has the value first_when. Otherwise `slack`,
// the largest possible overlap, is subtracted, so that the row has no effect.
void StepProgram::add_pair(std::uint32_t first, std::uint32_t second, int order, double first_when, Ticks latest) {
  for (std::size_t d = 0; d < model_.devices; ++d) {
    if (x(first, d) < 0 || x(second, d) < 0) continue;
    const Ticks time = model_.time[first * model_.devices + d];
    const double slack = scaled(std::max<Ticks>(0, latest - after_[first] + time - head_[second]));
    Terms terms{{start_[second], 1}, {start_[first], -1}};
    // slack x (number of conditions - number of those that hold)
    double conditions = 1;
    terms.emplace_back(order, first_when == 1 ? -slack : slack);
    if (first_when != 1) conditions -= 1;
    if (x(first, d) == x(second, d)) {
      terms.emplace_back(x(first, d), -slack);
      conditions += 1;
    } else {
      terms.emplace_back(x(first, d), -slack);
      terms.emplace_back(x(second, d), -slack);
      conditions += 2;
    }
    program_.add_row(terms, scaled(time) - slack * conditions, IntegerProgram::unlimited);
  }
}

Placement StepProgram::placement_of(const std::vector<double>& solution) const {
  std::vector<std::uint8_t> of_unit;
  for (std::size_t unit = 0; unit < units_.count(); ++unit) {
    std::size_t best = model_.devices;
    for (std::size_t d = 0; d < model_.devices; ++d) {
      const int column = share_[unit * model_.devices + d];
      if (column < 0) continue;
      if (best == model_.devices || solution[static_cast<std::size_t>(column)] >
                                        solution[static_cast<std::size_t>(share_[unit * model_.devices + best])])
        best = d;
    }
    of_unit.push_back(static_cast<std::uint8_t>(best));
  }
  Placement placement = units_.expand(of_unit);
  std::vector<double> earlier;
  for (const int column : start_) earlier.push_back(-solution[static_cast<std::size_t>(column)]);
  ReadyList ready(problem_, earlier);
  while (!ready.empty()) placement.order.push_back(ready.take());
  return placement;
}

}  // namespace emplace::search
