#include "search/local/order_moves.hpp"

#include <algorithm>
#include <utility>

#include "emplace/base/error.hpp"

namespace emplace::search {

OrderMover::OrderMover(const Problem& problem)
    : problem_(problem), position_(problem.op_count(), 0), marked_(problem.op_count(), 0) {}

void OrderMover::reset(const std::vector<std::uint32_t>& order) {
  EMPLACE_CHECK(order.size() == position_.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) position_[order[i]] = i;
  stood_.clear();
}

bool OrderMover::make(std::vector<std::uint32_t>& order, OrderMove move) {
  stood_.clear();
  if (move.op == move.past) return false;
  const bool forward = position_[move.op] > position_[move.past];  // towards the front
  first_ = std::min(position_[move.op], position_[move.past]);
  const std::uint32_t last = std::max(position_[move.op], position_[move.past]);
  const std::span<const std::uint32_t> stretch(order.data() + first_, last - first_ + 1);
  if (!mark_what_goes_along(stretch, move, forward)) return false;
  stood_.assign(stretch.begin(), stretch.end());
  stretch_ = stood_;
  std::stable_partition(stretch_.begin(), stretch_.end(),
                        [&](std::uint32_t op) { return (marked_[op] == serial_) == forward; });
  write(order, stretch_);
  return true;
}

void OrderMover::take_back(std::vector<std::uint32_t>& order) {
  write(order, stood_);
  stood_.clear();
}

void OrderMover::write(std::vector<std::uint32_t>& order, const std::vector<std::uint32_t>& stretch) {
  for (std::uint32_t i = 0; i < stretch.size(); ++i) {
    order[first_ + i] = stretch[i];
    position_[stretch[i]] = first_ + i;
  }
}

// Marks the ops that move along with move.op; returns false if `past` would have to.
bool OrderMover::mark_what_goes_along(std::span<const std::uint32_t> stretch, OrderMove move, bool forward) {
  if (++serial_ == 0) {
    std::ranges::fill(marked_, 0);
    serial_ = 1;
  }
  marked_[move.op] = serial_;
  for (std::size_t i = 0; i < stretch.size(); ++i) {
    const std::uint32_t op = stretch[forward ? stretch.size() - 1 - i : i];
    if (marked_[op] != serial_) continue;
    if (op == move.past) return false;
    if (forward)
      for (const std::uint32_t tensor : problem_.inputs[op]) marked_[problem_.producer[tensor].index()] = serial_;
    else
      for (const std::uint32_t tensor : problem_.outputs[op])
        for (const std::uint32_t consumer : problem_.consumers[tensor]) marked_[consumer] = serial_;
  }
  return true;
}

namespace {

// Adds the moves of a block. In the first block of the step no op needs to move before the first op, and in the last
// block none after the last.
void add_moves_of_block(const std::vector<std::uint32_t>& block, bool begins_step, bool ends_step,
                        std::vector<OrderMove>& moves) {
  const auto count = static_cast<std::ptrdiff_t>(block.size());
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const auto op = block[static_cast<std::size_t>(i)];
    if (i > 0 && !begins_step) moves.push_back({op, block.front()});
    if (i + 1 < count && !ends_step && !(i == 0 && count == 2 && !begins_step)) moves.push_back({op, block.back()});
  }
}

bool waits_for_op(const simulate::PathStep& step) {
  return step.reason == simulate::Reason::device_busy || step.reason == simulate::Reason::turn;
}

}  // namespace

CriticalChoices critical_choices(const Problem& problem, const Placement& placement, Schedule schedule,
                                 const simulate::Timeline& timeline) {
  CriticalChoices choices;
  const std::vector<simulate::PathStep> path = simulate::critical_path(problem, placement, schedule, timeline);
  std::vector<std::uint32_t> block;
  const auto end_block = [&](std::size_t end) {
    if (block.size() > 1) add_moves_of_block(block, end == block.size(), end == path.size(), choices.moves);
    block.clear();
  };
  const auto producer = [&](const simulate::PathStep& step) {
    return problem.producer[timeline.transfers[step.transfer].tensor.index()].value;
  };
  Ticks sent = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const simulate::PathStep& step = path[i];
    if (step.is_op()) {
      choices.ops.push_back(step.op.value);
      choices.times.push_back({step.duration(), step.wait(), std::exchange(sent, 0)});
    } else {
      sent += step.duration();
      choices.ends.push_back(producer(step));
      const simulate::Timeline::Transfer& transfer = timeline.transfers[step.transfer];
      for (const std::uint32_t consumer : problem.consumers[transfer.tensor.index()])
        if (placement.device[consumer] == transfer.to.index()) choices.ends.push_back(consumer);
    }
    if (!step.is_op() || !waits_for_op(step)) end_block(i);
    if (step.is_op()) block.push_back(step.op.value);
    if (step.reason != simulate::Reason::channel_busy) continue;
    const std::uint32_t waiting = producer(step), before = producer(path[i - 1]);
    if (waiting != before && placement.device[waiting] == placement.device[before])
      choices.moves.push_back({waiting, before});
  }
  end_block(path.size());
  return choices;
}

}  // namespace emplace::search
