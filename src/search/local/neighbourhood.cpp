#include "search/local/neighbourhood.hpp"

#include <algorithm>
#include <utility>

#include "emplace/base/error.hpp"

namespace emplace::search {

Neighbourhood::Neighbourhood(const Problem& problem, const Grouping& units, Schedule schedule)
    : problem_(problem),
      units_(units),
      schedule_(schedule),
      exact_(simulate::make_exact_engine(problem, schedule)),
      mover_(problem) {
  EMPLACE_CHECK(units.unit_of_op.size() == problem.op_count());
  if (simulate::incremental_supports(problem)) incremental_ = simulate::make_incremental_engine(problem);
}

Outcome Neighbourhood::start(const Placement& placement) {
  placement_ = placement;
  ++checks_;
  outcome_ = exact_->evaluate(placement_, {.usage = nullptr, .timeline = nullptr, .starts = &starts_});
  if (has_order()) mover_.reset(placement_.order);
  take_starts();
  rebase();
  return outcome_;
}

bool Neighbourhood::can_move(std::uint32_t unit, std::uint8_t device) const {
  return units_.allows(unit, device) &&
         std::ranges::any_of(members(unit), [&](std::uint32_t op) { return placement_.device[op] != device; });
}

Outcome Neighbourhood::guess(const Change& change) {
  ++guesses_;
  if (incremental_ && change.keeps_order()) {
    const simulate::MoveEvaluation trial = try_out(change);
    guessed_ops_ += trial.walked;
    may_overflow_ = !trial.memory_settled || trial.outcome.why == Infeasible::memory;
    return trial.outcome;
  }
  guessed_ops_ += problem_.op_count();
  if (!change.keeps_order()) ordered_ops_ += problem_.op_count();
  make(change);
  const Outcome outcome = exact_->evaluate(placement_);
  take_back();
  may_overflow_ = outcome.why == Infeasible::memory;
  return outcome;
}

Outcome Neighbourhood::check(const Change& change) { return check(change, simulate::Want{}.memory_below); }

// Where the current placement is feasible, one that takes as long is no better whether it fits memory or not.
bool Neighbourhood::improves(const Change& change) {
  return better(outcome_.feasible() ? check(change, outcome_.makespan) : check(change), outcome_);
}

Outcome Neighbourhood::check(const Change& change, Ticks memory_below) {
  ++checks_;
  any_checked_ = true;
  if (incremental_check(change)) {
    try_out(change);
    checked_ = {change, incremental_->settle()};
    return checked_.outcome;
  }
  make(change);
  checked_ = {change, exact_->evaluate(
                          placement_,
                          {.usage = nullptr, .timeline = nullptr, .starts = &starts_, .memory_below = memory_below})};
  take_back();
  return checked_.outcome;
}

void Neighbourhood::accept() {
  EMPLACE_CHECK(any_checked_, "only a checked neighbour can be accepted");
  critical_is_current_ = false;
  outcome_ = checked_.outcome;
  if (incremental_check(checked_.change)) {
    any_checked_ = false;
    try_out(checked_.change);
    incremental_->commit();
    make(checked_.change);
  } else {
    make(checked_.change);
    take_starts();
    rebase();
  }
}

// starts_ must be of the current placement.
void Neighbourhood::take_starts() {
  if (!incremental_) std::swap(base_starts_, starts_);
}

void Neighbourhood::consider(std::uint32_t unit) {
  EMPLACE_CHECK(can_estimate());
  if (!estimates_) estimates_ = std::make_unique<simulate::MoveEstimates>(problem_);
  if (!estimates_are_current_) estimates_->set_run(placement_.device, base_starts_);
  estimates_are_current_ = true;
  estimates_->choose(members(unit));
}

bool Neighbourhood::can_pass(OrderMove move) {
  if (!mover_.make(placement_.order, move)) return false;
  mover_.take_back(placement_.order);
  return true;
}

const CriticalChoices& Neighbourhood::critical() {
  if (critical_is_current_) return critical_;
  critical_is_current_ = true;
  critical_age_ = guessed_ops_;
  ++critical_serial_;
  critical_ = {};
  if (!outcome_.timed()) return critical_;
  exact_->evaluate(placement_, {.usage = nullptr, .timeline = &timeline_});
  critical_ = critical_choices(problem_, placement_, schedule_, timeline_);
  if (schedule_ == Schedule::in_order) order_by_start();
  return critical_;
}

// Sorts the order by start times. The run stays the same, but a move then changes the order where it takes effect.
void Neighbourhood::order_by_start() {
  const auto start = [&](std::uint32_t op) { return timeline_.op_start[op]; };
  if (std::ranges::is_sorted(placement_.order, {}, start)) return;
  std::ranges::stable_sort(placement_.order, {}, start);
  mover_.reset(placement_.order);
  rebase();
  critical_is_current_ = true;
}

const CriticalChoices& Neighbourhood::recently_critical() {
  constexpr std::uint64_t evaluations = 4;  // about its cost
  const bool is_old = critical_.ops.empty() || guessed_ops_ - critical_age_ >= evaluations * problem_.op_count();
  return is_old ? critical() : critical_;
}

std::uint32_t Neighbourhood::next_on(std::uint8_t device, std::uint32_t op, bool behind) const {
  constexpr std::uint32_t near_by = 256;
  const auto count = static_cast<std::uint32_t>(placement_.order.size());
  const std::uint32_t at = mover_.position(op);
  for (std::uint32_t step = 1; step <= near_by && (behind ? at + step < count : step <= at); ++step) {
    const std::uint32_t other = placement_.order[behind ? at + step : at - step];
    if (placement_.device[other] == device) return other;
  }
  return OrderMove::none;
}

// Tries a change that keeps the order.
simulate::MoveEvaluation Neighbourhood::try_out(const Change& change) {
  simulate::Relocation relocations[2] = {{members(change.unit), change.device}, {}};
  if (change.partner == Change::none) return incremental_->try_moves({relocations, 1});
  relocations[1] = {members(change.partner), device_of(change.unit)};
  return incremental_->try_moves(relocations);
}

void Neighbourhood::make(const Change& change) {
  home_.clear();
  if (change.unit != Change::none) {
    const std::uint8_t home = device_of(change.unit);
    put(change.unit, change.device);
    if (change.partner != Change::none) put(change.partner, home);
  }
  passed_ = !change.keeps_order() && mover_.make(placement_.order, change.order);
}

void Neighbourhood::take_back() {
  for (const auto& [op, device] : home_) placement_.device[op] = device;
  if (passed_) mover_.take_back(placement_.order);
}

void Neighbourhood::put(std::uint32_t unit, std::uint8_t device) {
  for (const std::uint32_t op : members(unit)) {
    home_.emplace_back(op, placement_.device[op]);
    placement_.device[op] = device;
  }
}

// Running in-order, with the order in which a run started its ops, gives the same run: a device starts one op at a
// time, consumers start after their producers, and each channel of a device carries the outputs of its ops in that
// order. starts_ must be of this placement, unless its order is the order of its run.
void Neighbourhood::rebase() {
  any_checked_ = false;
  critical_is_current_ = false;
  estimates_are_current_ = false;
  if (!incremental_) return;
  in_own_order_ = placement_;
  if (schedule_ != Schedule::in_order) {
    in_own_order_.order = problem_.topological;
    if (outcome_.timed())
      std::ranges::stable_sort(in_own_order_.order, {}, [&](std::uint32_t op) { return starts_[op]; });
  }
  incremental_->set_base(in_own_order_, outcome_);
}

}  // namespace emplace::search
