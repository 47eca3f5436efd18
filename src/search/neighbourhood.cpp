#include "emplace/search/neighbourhood.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace {

Neighbourhood::Neighbourhood(const Problem& problem, const Grouping& units, Schedule schedule)
    : problem_(problem), units_(units), schedule_(schedule), exact_(make_exact_engine(problem, schedule)) {
  EMPLACE_CHECK(units.unit_of_op.size() == problem.op_count());
  if (incremental_supports(problem)) incremental_ = make_incremental_engine(problem);
}

Outcome Neighbourhood::start(const Placement& placement) {
  placement_ = placement;
  ++checks_;
  outcome_ = exact_->evaluate(placement_);
  rebase();
  return outcome_;
}

bool Neighbourhood::can_move(std::uint32_t unit, std::uint8_t device) const {
  return units_.allows(unit, device) &&
         std::ranges::any_of(members(unit), [&](std::uint32_t op) { return placement_.device[op] != device; });
}

Outcome Neighbourhood::guess(std::uint32_t unit, std::uint8_t device) {
  ++guesses_;
  if (incremental_) {
    const Trial trial = incremental_->try_move(members(unit), device);
    guessed_ops_ += trial.walked;
    return trial.outcome;
  }
  guessed_ops_ += problem_.op_count();
  put(unit, device);
  const Outcome outcome = exact_->evaluate(placement_);
  put_back(unit);
  return outcome;
}

Outcome Neighbourhood::check(std::uint32_t unit, std::uint8_t device) {
  ++checks_;
  any_checked_ = true;
  if (incremental_ && schedule_ == Schedule::in_order) {
    incremental_->try_move(members(unit), device);
    checked_ = {unit, device, incremental_->settle()};
    return checked_.outcome;
  }
  put(unit, device);
  checked_ = {unit, device, exact_->evaluate(placement_)};
  put_back(unit);
  return checked_.outcome;
}

void Neighbourhood::accept() {
  EMPLACE_CHECK(any_checked_, "only a checked neighbour can be accepted");
  put(checked_.unit, checked_.device);
  outcome_ = checked_.outcome;
  if (incremental_ && schedule_ == Schedule::in_order) {
    any_checked_ = false;
    incremental_->move(members(checked_.unit), checked_.device);
  } else {
    rebase();
  }
}

void Neighbourhood::put(std::uint32_t unit, std::uint8_t device) {
  home_.clear();
  for (const std::uint32_t op : members(unit)) {
    home_.push_back(placement_.device[op]);
    placement_.device[op] = device;
  }
}

void Neighbourhood::put_back(std::uint32_t unit) {
  for (std::size_t i = 0; i < home_.size(); ++i) placement_.device[members(unit)[i]] = home_[i];
}

// In-order with the order in which a run starts its ops is that run again: a device starts one op at a time, consumers
// start after their producers, and each channel of a device carries the outputs of its ops in that order.
void Neighbourhood::rebase() {
  any_checked_ = false;
  if (!incremental_) return;
  in_own_order_ = placement_;
  if (schedule_ != Schedule::in_order) {
    in_own_order_.order = problem_.topological;
    if (outcome_.timed()) {
      exact_->evaluate(placement_, {.usage = nullptr, .timeline = &timeline_});
      std::ranges::stable_sort(in_own_order_.order, {}, [&](std::uint32_t op) { return timeline_.op_start[op]; });
    }
  }
  const Outcome again = incremental_->set_base(in_own_order_);
  EMPLACE_CHECK(again == outcome_);
}

}  // namespace emplace
