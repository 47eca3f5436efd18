#include "search/bounds/slot_windows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "search/common/evenly.hpp"

namespace emplace::search {

namespace {

// Limits of the work of one round: pairs (window, op); above them only evenly spread windows are tried.
constexpr double most_window_ops = 2e7, most_ancestor_ops = 1e7;
constexpr int most_rounds = 6;
constexpr Ticks shortest_share = 10'000;  // ops below this part of the limit are left out of windows

Ticks least_transfer(const Problem& p, std::uint32_t tensor) {
  const std::size_t classes = p.route_classes.size();
  Ticks least = never;
  for (std::size_t c = 0; c < classes; ++c) least = std::min(least, p.transfer_time[tensor * classes + c]);
  return least;
}

// A bound on the time of m devices for whole items, longest first: the work shared equally; and of k x m + 1 items one
// device has k + 1, which take at least as long as the k + 1 shortest of them.
Ticks least_makespan(const std::vector<Ticks>& items, std::size_t m) {
  const auto shared = static_cast<Ticks>(m);
  Ticks most = (std::accumulate(items.begin(), items.end(), Ticks{0}) + shared - 1) / shared;
  for (std::size_t k = 0; k * m < items.size(); ++k) {
    const auto end = items.begin() + static_cast<std::ptrdiff_t>(k * m + 1);
    most = std::max(most, std::accumulate(end - static_cast<std::ptrdiff_t>(k + 1), end, Ticks{0}));
  }
  return most;
}

// For each op all ops from which it can be reached, over edges in the order of `order`.
std::vector<std::vector<std::uint32_t>> reaching(const std::vector<std::uint32_t>& order,
                                                 const std::vector<std::vector<std::uint32_t>>& next) {
  const std::size_t n = order.size(), words = (n + 63) / 64;
  std::vector<std::uint64_t> bits(n * words, 0);
  for (const std::uint32_t op : order)
    for (const std::uint32_t reached : next[op]) {
      for (std::size_t w = 0; w < words; ++w) bits[reached * words + w] |= bits[op * words + w];
      bits[reached * words + op / 64] |= std::uint64_t{1} << (op % 64);
    }
  std::vector<std::vector<std::uint32_t>> all(n);
  for (std::size_t op = 0; op < n; ++op)
    for (std::uint32_t other = 0; other < n; ++other)
      if ((bits[op * words + other / 64] >> (other % 64) & 1) != 0) all[op].push_back(other);
  return all;
}

}  // namespace

SlotWindows::SlotWindows(const Problem& p, const std::vector<std::uint8_t>& possible, const EarliestTimes& times)
    : order_(p.topological) {
  const std::size_t n = p.op_count(), devices = p.device_count();
  LeastTimes least = least_times(p, times);
  first_head_ = std::move(least.head), first_tail_ = std::move(least.tail), time_ = std::move(least.time);
  std::vector<std::uint8_t> used(devices, 0);
  for (std::size_t at = 0; at < n * devices; ++at)
    if (possible[at] != 0) used[at % devices] = 1;
  devices_ = static_cast<std::size_t>(std::ranges::count(used, 1));
  std::vector<std::vector<std::uint32_t>> consumers(n), producers(n);
  for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor)
    for (const std::uint32_t to : p.consumers[tensor]) {
      const std::uint32_t from = p.producer[tensor].value;
      edges_.push_back({from, to, least_transfer(p, tensor)});
      consumers[from].push_back(to), producers[to].push_back(from);
    }
  std::vector<std::uint32_t> first_of_group(p.group_names.size(), static_cast<std::uint32_t>(n));
  own_group_.resize(n);
  for (std::uint32_t op = 0; op < n; ++op) {
    own_group_[op] = op;
    if (p.group[op].is_none()) continue;
    std::uint32_t& first = first_of_group[p.group[op].index()];
    first = std::min(first, op);
    own_group_[op] = first;
  }
  if (static_cast<double>(n) * static_cast<double>(n) > most_ancestor_ops) return;
  before_ = reaching(order_, consumers);
  std::vector<std::uint32_t> backwards(order_.rbegin(), order_.rend());
  after_ = reaching(backwards, producers);
}

std::uint32_t SlotWindows::root(std::uint32_t op) {
  while (parent_[op] != op) op = parent_[op] = parent_[parent_[op]];
  return op;
}

void SlotWindows::start(Ticks limit) {
  limit_ = limit;
  short_ = limit / shortest_share;
  head_ = first_head_, tail_ = first_tail_;
  parent_ = own_group_;
  work_.assign(parent_.size(), {});
}

// Ops on different devices are at least a transfer apart.
bool SlotWindows::join_ops_that_transfers_keep_together() {
  bool joined = false;
  for (const Edge& edge : edges_) {
    const std::uint32_t a = root(edge.from), b = root(edge.to);
    if (a == b) continue;
    const Ticks least = head_[edge.from] + time_[edge.from] + time_[edge.to] + tail_[edge.to];
    if (edge.transfer != never && least + edge.transfer <= limit_) continue;
    parent_[b] = a;
    joined = true;
  }
  return joined;
}

bool SlotWindows::raise_along_edges() {
  bool raised = false;
  const auto raise = [&](Ticks& time, Ticks least) {
    raised = raised || least > time;
    time = std::max(time, least);
  };
  // Edges are sorted by the places of neither op, so a few passes: a raise that is missed weakens the bound, no more.
  for (int pass = 0; pass < 4; ++pass)
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const Edge &down = edges_[i], &up = edges_[edges_.size() - 1 - i];
      raise(head_[down.to], head_[down.from] + time_[down.from]);
      raise(tail_[up.from], tail_[up.to] + time_[up.to]);
    }
  return raised;
}

// The work that these ops do between `head` and a time of `tail` before the end: those that have to be inside, and of
// the ops of a device what does not fit beside the window.
Ticks SlotWindows::busiest(const std::vector<std::uint32_t>& ops, Ticks head, Ticks tail) {
  for (const std::uint32_t op : ops) {
    Work& work = work_[root(op)];
    const bool starts = head_[op] >= head, ends = tail_[op] >= tail;
    work.all += time_[op];
    if (starts) work.starting += time_[op];
    if (ends) work.ending += time_[op];
    if (starts && ends) work.inside += time_[op];
  }
  items_.clear();
  for (const std::uint32_t op : ops) {
    const Work work = std::exchange(work_[root(op)], {});
    const Ticks item = std::max({work.inside, work.starting - tail, work.ending - head, work.all - head - tail});
    if (work.all > 0 && item > 0) items_.push_back(item);
  }
  std::ranges::sort(items_, std::greater{});
  return least_makespan(items_, devices_);
}

// An op starts after all ops before it have run, from any r on: those with a head of r or more, and what the others of
// their device could not do before r.
bool SlotWindows::raise_by_windows(Side side, const Deadline& deadline) {
  const auto& others = side == Side::before ? before_ : after_;
  std::vector<Ticks>& times = side == Side::before ? head_ : tail_;
  if (others.empty()) return false;
  const auto n = static_cast<double>(others.size());
  const auto windows = static_cast<std::size_t>(std::clamp(most_ancestor_ops / (n * n), 1.0, 32.0));
  bool raised = false;
  std::vector<std::uint32_t> ops;
  std::vector<Ticks> begins;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::uint32_t op = side == Side::before ? order_[i] : order_[others.size() - 1 - i];
    ops.clear(), begins.clear();
    for (const std::uint32_t other : others[op])
      if (is_long(other)) ops.push_back(other), begins.push_back(times[other]);
    if (deadline.passed()) return false;
    for (const Ticks begin : evenly(begins, windows)) {
      const Ticks least = begin + (side == Side::before ? busiest(ops, begin, 0) : busiest(ops, 0, begin));
      raised = raised || least > times[op];
      times[op] = std::max(times[op], least);
    }
  }
  return raised;
}

bool SlotWindows::too_long() const {
  for (std::size_t op = 0; op < head_.size(); ++op)
    if (head_[op] + time_[op] + tail_[op] > limit_) return true;
  return false;
}

bool SlotWindows::overfull_window(const Deadline& deadline) {
  std::vector<std::uint32_t> ops;
  std::vector<Ticks> heads, tails;
  for (std::uint32_t op = 0; op < time_.size(); ++op)
    if (is_long(op)) ops.push_back(op), heads.push_back(head_[op]), tails.push_back(tail_[op]);
  if (ops.empty()) return false;
  const auto side = static_cast<std::size_t>(std::sqrt(most_window_ops / static_cast<double>(ops.size())));
  const std::vector<Ticks> some_tails = evenly(tails, side);
  for (const Ticks head : evenly(heads, side)) {
    if (deadline.passed()) return false;
    for (const Ticks tail : some_tails)
      if (const Ticks busy = busiest(ops, head, tail); busy > 0 && head + tail + busy > limit_) return true;
  }
  return false;
}

bool SlotWindows::refutes(Ticks limit, const Deadline& deadline) {
  if (std::ranges::find(time_, never) != time_.end()) return false;  // some op can be nowhere: nothing is feasible
  start(limit);
  for (int round = 0; round < most_rounds && !deadline.passed(); ++round) {
    bool changed = join_ops_that_transfers_keep_together();
    changed |= raise_by_windows(Side::before, deadline);
    changed |= raise_by_windows(Side::after, deadline);
    changed |= raise_along_edges();
    if (too_long() || overfull_window(deadline)) return true;
    if (!changed) return false;
  }
  return false;
}

}  // namespace emplace::search
