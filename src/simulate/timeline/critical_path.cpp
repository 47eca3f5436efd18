#include "simulate/timeline/critical_path.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "emplace/base/error.hpp"

namespace emplace::simulate {

namespace {

constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

class PathFinder {
 public:
  PathFinder(const Problem& problem, const Placement& placement, Schedule schedule, const Timeline& timeline)
      : p_(problem),
        device_(placement.device),
        schedule_(schedule),
        t_(timeline),
        op_before_(problem.op_count(), nothing),
        idle_until_(problem.op_count()),
        transfer_before_(timeline.transfers.size(), nothing),
        channel_before_(timeline.transfers.size()),
        arrivals_(timeline.transfers.size()) {
    order_ops();
    order_transfers();
    std::iota(arrivals_.begin(), arrivals_.end(), 0U);
    std::ranges::sort(arrivals_, {}, [&](std::uint32_t i) { return arrival(i); });
  }

  [[nodiscard]] PathStep step_of_op(std::uint32_t op) const {
    const auto [ready, tensor] = last_input(op);
    PathStep step{OpId{op}, nothing, ready, t_.op_start[op], t_.op_end[op], Reason::none, {}, {}};
    if (step.wait() > 0) {
      const bool idle = schedule_ == Schedule::in_order && idle_until_[op] > ready;
      step.reason = idle ? Reason::turn : Reason::device_busy;
    } else if (step.start > 0) {
      step.reason = Reason::input;
      step.tensor = tensor;
    }
    return step;
  }

  [[nodiscard]] PathStep step_of_transfer(std::uint32_t index) const {
    const Timeline::Transfer& transfer = t_.transfers[index];
    PathStep step{{}, index, transfer.requested, transfer.start, transfer.end, Reason::input, transfer.tensor, {}};
    if (step.wait() > 0) {
      step.reason = Reason::channel_busy;
      step.tensor = {};
      step.channel = channel_before_[index];
    }
    return step;
  }

  // The step whose end made this one begin.
  [[nodiscard]] PathStep step_before(const PathStep& step) const {
    const PathStep before = cause_of(step);
    EMPLACE_CHECK(before.end == step.start, "a step that ended at {} cannot be the cause of a start at {}", before.end,
                  step.start);
    return before;
  }

 private:
  [[nodiscard]] PathStep cause_of(const PathStep& step) const {
    if (step.reason == Reason::channel_busy) {
      EMPLACE_CHECK(transfer_before_[step.transfer] != nothing, "a transfer waited for nothing");
      return step_of_transfer(transfer_before_[step.transfer]);
    }
    if (step.reason != Reason::input) {
      EMPLACE_CHECK(op_before_[step.op.index()] != nothing, "an op waited for nothing");
      return step_of_op(op_before_[step.op.index()]);
    }
    const std::uint32_t producer = p_.producer[step.tensor.index()].value;
    if (!step.is_op() || device_[producer] == device_[step.op.index()]) return step_of_op(producer);
    return step_of_transfer(arrival_of(step.tensor, DeviceId{device_[step.op.index()]}));
  }

  // Ops of a device never overlap, so the previous op is the one that started before.
  void order_ops() {
    std::vector<std::uint32_t> ops(p_.op_count());
    std::iota(ops.begin(), ops.end(), 0U);
    std::ranges::sort(ops, {}, [&](std::uint32_t op) { return t_.op_start[op]; });
    std::vector<std::uint32_t> last(p_.device_count(), nothing);
    for (const std::uint32_t op : ops) {
      std::uint32_t& before = last[device_[op]];
      op_before_[op] = before;
      const bool follows_at_once = before != nothing && t_.op_end[before] == t_.op_start[op];
      idle_until_[op] = follows_at_once ? idle_until_[before] : t_.op_start[op];
      before = op;
    }
  }

  // A channel with contention carries one transfer at a time, so the previous transfer is the one that started before.
  void order_transfers() {
    std::vector<std::uint32_t> last(p_.channels.size(), nothing);
    for (std::uint32_t i = 0; i < t_.transfers.size(); ++i) {
      const Timeline::Transfer& transfer = t_.transfers[i];
      for (const std::uint32_t channel : p_.route(transfer.from, transfer.to)) {
        if (!p_.channels[channel].contention) continue;
        if (transfer_before_[i] == nothing && last[channel] != nothing &&
            t_.transfers[last[channel]].end == transfer.start) {
          transfer_before_[i] = last[channel];
          channel_before_[i] = ChannelId{channel};
        }
        last[channel] = i;
      }
    }
  }

  using Arrival = std::pair<TensorId, DeviceId>;
  [[nodiscard]] Arrival arrival(std::uint32_t i) const { return {t_.transfers[i].tensor, t_.transfers[i].to}; }
  [[nodiscard]] std::uint32_t arrival_of(TensorId tensor, DeviceId to) const {
    const auto found =
        std::ranges::lower_bound(arrivals_, Arrival{tensor, to}, {}, [&](std::uint32_t i) { return arrival(i); });
    EMPLACE_CHECK(found != arrivals_.end() && arrival(*found) == Arrival(tensor, to), "a tensor was never sent");
    return *found;
  }

  [[nodiscard]] std::pair<Ticks, TensorId> last_input(std::uint32_t op) const {
    std::pair<Ticks, TensorId> last{0, {}};
    for (const std::uint32_t tensor : p_.inputs[op]) {
      const std::uint32_t producer = p_.producer[tensor].value;
      const Ticks there = device_[producer] == device_[op]
                              ? t_.op_end[producer]
                              : t_.transfers[arrival_of(TensorId{tensor}, DeviceId{device_[op]})].end;
      if (there > last.first || (there == last.first && TensorId{tensor} < last.second))
        last = {there, TensorId{tensor}};
    }
    return last;
  }

  const Problem& p_;
  const std::vector<std::uint8_t>& device_;
  const Schedule schedule_;
  const Timeline& t_;
  std::vector<std::uint32_t> op_before_;        // N: the previous op on the same device
  std::vector<Ticks> idle_until_;               // N: the last instant before its start at which its device was idle
  std::vector<std::uint32_t> transfer_before_;  // that ended when this one started, on a channel of its route
  std::vector<ChannelId> channel_before_;       // that channel
  std::vector<std::uint32_t> arrivals_;         // transfers by (tensor, destination)
};

}  // namespace

std::string_view name_of(Reason reason) {
  switch (reason) {
    case Reason::none: return "none";
    case Reason::input: return "input";
    case Reason::device_busy: return "device busy";
    case Reason::channel_busy: return "channel busy";
    case Reason::turn: return "turn";
  }
  EMPLACE_CHECK(false, "an unknown reason");
}

std::vector<PathStep> critical_path(const Problem& problem, const Placement& placement, Schedule schedule,
                                    const Timeline& timeline) {
  if (timeline.op_end.empty()) return {};
  const PathFinder finder(problem, placement, schedule, timeline);
  const auto last = std::ranges::max_element(timeline.op_end) - timeline.op_end.begin();
  std::vector<PathStep> path{finder.step_of_op(static_cast<std::uint32_t>(last))};
  while (path.back().start > 0) path.push_back(finder.step_before(path.back()));
  std::ranges::reverse(path);
  return path;
}

PathShares shares_of(const std::vector<PathStep>& path) {
  PathShares shares;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const bool result_needed = i + 1 == path.size() || path[i + 1].reason == Reason::input;
    Ticks& share = !result_needed ? shares.waiting : path[i].is_op() ? shares.computing : shares.transferring;
    share += path[i].duration();
  }
  return shares;
}

}  // namespace emplace::simulate
