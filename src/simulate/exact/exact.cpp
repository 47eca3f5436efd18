// The exact engine: checks the placement's feasibility (R6), simulates it on the core of its schedule, and computes
// whatever else is wanted.
#include <algorithm>
#include <functional>
#include <tuple>

#include "emplace/base/error.hpp"
#include "emplace/simulate/engine.hpp"
#include "problem/cuts.hpp"
#include "simulate/exact/core.hpp"
#include "simulate/exact/layout.hpp"
#include "simulate/exact/memory.hpp"

namespace emplace::simulate {

namespace {

std::unique_ptr<Core> make_core(const Layout& layout, Schedule schedule) {
  switch (schedule) {
    case Schedule::fifo: return make_fifo_core(layout);
    case Schedule::priority: return make_priority_core(layout);
    case Schedule::in_order: return make_in_order_core(layout);
  }
  EMPLACE_CHECK(false, "unknown schedule");
}

class ExactEngine final : public Engine {
 public:
  ExactEngine(const Problem& problem, Schedule schedule)
      : layout_(problem),
        run_(layout_),
        memory_(layout_),
        schedule_(schedule),
        core_(make_core(layout_, schedule)),
        device_of_group_(problem.group_names.size()),
        limited_(memory_can_overflow(problem)) {
    for (const Device& device : problem.devices) limits_.push_back(device.memory);
  }

  Outcome evaluate(const Placement& placement, const Want& want) override {
    if (schedule_ != Schedule::fifo && placement.order.empty())
      throw InputError({}, "the schedule {} needs a placement with an order", name_of(schedule_));
    if (want.usage) clear(*want.usage);
    if (want.timeline) *want.timeline = {};
    if (want.starts) want.starts->clear();
    if (!run_.place(placement.device)) return unsupported_op();
    if (!layout_.network.complete)
      if (const Outcome outcome = missing_route(); !outcome.feasible()) return outcome;
    Outcome outcome = split_group();
    judge_cuts(layout_.problem, placement.device.data(), outcome);

    const bool may_overflow = limited_ && !surely_fits(placement.device);
    core_->simulate(run_, placement.order, may_overflow || want.usage || want.timeline);
    outcome.makespan = run_.makespan;
    if ((may_overflow && run_.makespan < want.memory_below) || want.usage) judge_memory(outcome, want.usage);
    if (want.usage) add_busy(*want.usage);
    if (want.timeline) fill(*want.timeline);
    if (want.starts)
      for (const OpState& state : run_.ops) want.starts->push_back(state.start);
    return outcome;
  }

 private:
  [[nodiscard]] Outcome unsupported_op() const {
    std::uint32_t op = 0;
    while (run_.ops[op].time != cannot_run) ++op;
    return {.why = Infeasible::unsupported_op, .device = static_cast<std::uint8_t>(run_.ops[op].device), .subject = op};
  }

  [[nodiscard]] Outcome missing_route() const {
    const Problem& p = layout_.problem;
    for (std::uint32_t tensor = 0; tensor < p.tensor_count(); ++tensor) {
      const DeviceId from{run_.ops[p.producer[tensor].index()].device};
      DeviceId missing;  // `none` compares larger than any device
      for (const std::uint32_t consumer : p.consumers[tensor]) {
        const DeviceId to{run_.ops[consumer].device};
        if (to != from && !p.has_route(from, to)) missing = std::min(missing, to);
      }
      if (!missing.is_none())
        return {
            .why = Infeasible::missing_route, .device = static_cast<std::uint8_t>(missing.value), .subject = tensor};
    }
    return {};
  }

  Outcome split_group() {
    const std::size_t groups = device_of_group_.size();
    if (groups == 0) return {};
    std::fill(device_of_group_.begin(), device_of_group_.end(), DeviceId::none_value);
    std::size_t split = groups;
    for (std::size_t op = 0; op < run_.ops.size(); ++op) {
      const GroupId group = layout_.problem.group[op];
      if (group.is_none()) continue;
      std::uint32_t& device = device_of_group_[group.index()];
      if (device == DeviceId::none_value) device = run_.ops[op].device;
      if (device != run_.ops[op].device) split = std::min(split, group.index());
    }
    if (split == groups) return {};
    return {.why = Infeasible::split_group, .subject = static_cast<std::uint32_t>(split)};
  }

  // Whether everything that a device ever holds fits its memory. That takes a small part of the time of judge_memory,
  // but is lost where it hardly ever holds: after some failures in a row most placements are not asked.
  bool surely_fits(const std::vector<std::uint8_t>& device) {
    constexpr std::uint64_t some = 8, one_in = 64;
    if (failures_ >= some && failures_ % one_in != 0) {
      ++failures_;
      return false;
    }
    const bool fit = fits(memory_.whatever_the_times(device));
    failures_ = fit ? 0 : failures_ + 1;
    return fit;
  }

  [[nodiscard]] bool fits(const std::vector<Bytes>& peaks) const {
    return std::ranges::equal(peaks, limits_, std::less_equal());
  }

  // Computes exact peaks if they are wanted, or if the upper bound of the peaks exceeds a limit.
  void judge_memory(Outcome& outcome, Usage* usage) {
    if (!usage && fits(memory_.bound(run_))) return;
    const std::vector<Bytes>& peak = memory_.exact(run_);
    for (std::size_t device = 0; device < peak.size(); ++device) {
      if (peak[device] <= limits_[device]) continue;
      outcome.overflow += peak[device] - limits_[device];
      if (outcome.feasible()) {
        outcome.why = Infeasible::memory;
        outcome.device = static_cast<std::uint8_t>(device);
      }
    }
    if (usage) usage->device_peak = peak;
  }

  // Calls visit(from, consumer's state, edge, start, duration) for every transfer.
  template <class Visit>
  void visit_transfers(Visit&& visit) const {
    for (const OpState& state : run_.ops)
      for (std::uint32_t edge = state.edge_begin; edge != state.edge_end; ++edge) {
        if (run_.send_start[edge] == not_sent) continue;
        const std::uint32_t to = run_.ops[layout_.edges[edge].consumer].device;
        const std::uint32_t column = layout_.network.column[state.device * layout_.network.devices + to];
        const std::uint32_t tensor = layout_.edges[edge].tensor;
        visit(state, to, tensor, run_.send_start[edge], layout_.transfers_of(tensor)[column]);
      }
  }

  void add_busy(Usage& usage) const {
    const Problem& p = layout_.problem;
    usage.device_busy.assign(p.device_count(), 0);
    usage.channel_busy.assign(p.channels.size(), 0);
    usage.channel_bytes.assign(p.channels.size(), 0);
    for (const OpState& state : run_.ops) usage.device_busy[state.device] += state.time;
    for (std::size_t pair = 0; pair < p.routes.rows(); ++pair)
      for (const std::uint32_t channel : p.routes[pair]) {
        usage.channel_busy[channel] += memory_.traffic()[pair].busy;
        usage.channel_bytes[channel] += memory_.traffic()[pair].bytes;
      }
  }

  void fill(Timeline& timeline) const {
    for (const OpState& state : run_.ops) {
      timeline.op_start.push_back(state.start);
      timeline.op_end.push_back(state.end());
    }
    visit_transfers([&](const OpState& from, std::uint32_t to, std::uint32_t tensor, Ticks start, Ticks duration) {
      timeline.transfers.push_back(
          {TensorId{tensor}, DeviceId{from.device}, DeviceId{to}, from.end(), start, start + duration});
    });
    std::sort(timeline.transfers.begin(), timeline.transfers.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.start, a.tensor, a.to) < std::tuple(b.start, b.tensor, b.to);
    });
  }

  // Keeps the vectors' capacity for the next evaluation.
  static void clear(Usage& usage) {
    usage.device_busy.clear();
    usage.device_peak.clear();
    usage.channel_busy.clear();
    usage.channel_bytes.clear();
  }

  const Layout layout_;
  Run run_;
  Memory memory_;
  const Schedule schedule_;
  const std::unique_ptr<Core> core_;
  std::vector<std::uint32_t> device_of_group_;
  std::vector<Bytes> limits_;   // D
  const bool limited_;          // false: nothing can exceed them
  std::uint64_t failures_ = 0;  // of surely_fits() in a row
};

}  // namespace

std::unique_ptr<Engine> make_exact_engine(const Problem& problem, Schedule schedule) {
  return std::make_unique<ExactEngine>(problem, schedule);
}

}  // namespace emplace::simulate
