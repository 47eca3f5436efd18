// The incremental engine: checks the feasibility of a move, simulates the part of the base's run that changes, and
// calls the exact engine where that is not enough (memory near the limits, placements that cannot be timed).
#include "simulate/incremental/incremental.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/exact/layout.hpp"
#include "simulate/incremental/feasibility_tracker.hpp"
#include "simulate/incremental/ordered_run.hpp"

namespace emplace::simulate {

namespace {

class OrderedEngine final : public IncrementalEngine {
 public:
  explicit OrderedEngine(const Problem& problem)
      : layout_(problem),
        exact_(make_exact_engine(problem, Schedule::in_order)),
        feasibility_(layout_),
        run_(layout_),
        seen_(problem.op_count(), 0) {
    moved_.reserve(problem.op_count());
    home_.reserve(problem.op_count());
    target_.reserve(problem.op_count());
    changed_.reserve(problem.op_count() + problem.edge_count());
  }

  Outcome set_base(const Placement& placement) override {
    set_base(placement, exact_->evaluate(placement));
    return outcome_;
  }

  void set_base(const Placement& placement, const Outcome& known) override {
    outcome_ = known;
    base_ = placement;
    run_.lay_out(base_);
    evaluated_ = false;
    start_over();
  }

  MoveEvaluation try_moves(std::span<const Relocation> relocations) override {
    EMPLACE_CHECK(!base_.order.empty(), "a move needs a base");
    moved_.clear();
    home_.clear();
    target_.clear();
    for (const auto& [ops, device] : relocations) {
      EMPLACE_CHECK(device < layout_.network.devices);
      for (const std::uint32_t op : ops) {
        if (base_.device[op] == device || seen_[op]) continue;
        seen_[op] = 1;
        moved_.push_back(op);
        home_.push_back(base_.device[op]);
        target_.push_back(device);
      }
    }
    for (const std::uint32_t op : moved_) seen_[op] = 0;
    evaluated_ = true;
    move_ = {outcome_};
    if (moved_.empty()) return move_;
    if (outcome_.timed()) {
      feasibility_.begin(base_.device, moved_);
      there();
      move_.outcome = feasibility_.feasibility(base_.device, moved_);
      if (move_.outcome.why != Infeasible::unsupported_op && move_.outcome.why != Infeasible::missing_route) {
        move_.memory_settled = feasibility_.memory_settled();
        move_.outcome.makespan = run_.retrace(changed());
        move_.walked = run_.walked();
      }
    } else {
      there();
      move_.outcome = exact_->evaluate(base_);
      move_.walked = base_.device.size();
    }
    back();
    return move_;
  }

  Outcome settle() override {
    EMPLACE_CHECK(evaluated_, "no move was evaluated");
    if (!move_.memory_settled) {
      there();
      move_ = {exact_->evaluate(base_), true, move_.walked + base_.device.size()};
      back();
    }
    return move_.outcome;
  }

  Outcome commit() override {
    settle();
    evaluated_ = false;
    if (moved_.empty()) return outcome_;
    const bool was_timed = outcome_.timed();
    there();
    outcome_ = move_.outcome;
    if (was_timed && outcome_.timed()) {
      run_.record(changed().front());
      feasibility_.commit();
    } else {
      start_over();
    }
    return outcome_;
  }

  [[nodiscard]] const Placement& base() const override { return base_; }
  [[nodiscard]] const Outcome& outcome() const override { return outcome_; }
  void read_starts(std::vector<Ticks>& starts) const override {
    starts.clear();
    if (!outcome_.timed()) return;
    starts.resize(base_.device.size());
    for (std::uint32_t op = 0; op < starts.size(); ++op) starts[op] = run_.start(run_.position(op));
  }

 private:
  void start_over() {
    if (!outcome_.timed()) return;
    const Ticks makespan = run_.record();
    EMPLACE_CHECK(makespan == outcome_.makespan);
    feasibility_.set_base(base_.device);
  }

  // Make the move, and take it back.
  void there() {
    for (std::size_t i = 0; i < moved_.size(); ++i) put(moved_[i], target_[i]);
  }
  void back() {
    for (std::size_t i = 0; i < moved_.size(); ++i) put(moved_[i], home_[i]);
  }
  void put(std::uint32_t op, std::uint8_t device) {
    base_.device[op] = device;
    run_.put(run_.position(op), device);
  }

  // The positions of the moved ops and of the ops that send to them.
  const std::vector<std::uint32_t>& changed() {
    const Problem& p = layout_.problem;
    changed_.clear();
    for (const std::uint32_t op : moved_) {
      changed_.push_back(run_.position(op));
      for (const std::uint32_t tensor : p.inputs[op]) changed_.push_back(run_.position(p.producer[tensor].value));
    }
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    return changed_;
  }

  const Layout layout_;
  const std::unique_ptr<Engine> exact_;
  FeasibilityTracker feasibility_;
  OrderedRun run_;
  Placement base_;
  Outcome outcome_;
  // Data of the move.
  bool evaluated_ = false;
  MoveEvaluation move_;
  std::vector<std::uint32_t> moved_;  // without ops that are on their target device already
  std::vector<std::uint8_t> home_;    // their devices in the base
  std::vector<std::uint8_t> target_;  // and after the move
  std::vector<std::uint32_t> changed_;
  std::vector<char> seen_;  // N
};

}  // namespace

bool incremental_supports(const Problem& problem) { return !Network(problem).any_deferred; }

std::unique_ptr<IncrementalEngine> make_incremental_engine(const Problem& problem) {
  const Network network(problem);
  if (network.any_deferred)
    throw InputError({},
                     "in the incremental engine only one device may send over a channel with contention; in problem {} "
                     "several devices do",
                     quote(problem.name));
  return std::make_unique<OrderedEngine>(problem);
}

}  // namespace emplace::simulate
