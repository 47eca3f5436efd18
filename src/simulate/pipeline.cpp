// The load model of papers/exact.md section 2.1, per tensor and direction as in section 2.9.
#include "emplace/simulate/pipeline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bitset>

#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"

namespace emplace {

namespace {

constexpr const char* host_kind = "cpu";

// A way between a device and a host: routes of one class last equally long, so one a class is enough.
struct Way {
  std::size_t route_class;
  DeviceId partner;
};

struct DeviceWays {
  bool pays = false;
  std::vector<Way> out, in;
};

std::vector<DeviceWays> find_ways(const Problem& p) {
  const std::size_t devices = p.device_count();
  const bool has_host =
      std::any_of(p.devices.begin(), p.devices.end(), [](const Device& d) { return d.kind == host_kind; });
  std::vector<DeviceWays> ways(devices);
  const auto add = [&](std::vector<Way>& list, std::size_t from, std::size_t to, std::size_t partner) {
    const std::int32_t cls = p.route_class[from * devices + to];
    if (cls < 0) return;
    const auto same = [&](const Way& way) { return way.route_class == static_cast<std::size_t>(cls); };
    if (std::none_of(list.begin(), list.end(), same))
      list.push_back({static_cast<std::size_t>(cls), DeviceId{partner}});
  };
  for (std::size_t d = 0; d < devices; ++d) {
    ways[d].pays = p.devices[d].kind != host_kind;
    for (std::size_t partner = 0; partner < devices; ++partner) {
      if (partner == d || (has_host && p.devices[partner].kind != host_kind)) continue;
      add(ways[d].out, d, partner, partner);
      add(ways[d].in, partner, d, partner);
    }
  }
  return ways;
}

class PipelineEngine final : public Engine {
 public:
  PipelineEngine(const Problem& problem, const PipelineOptions& options)
      : p_(problem),
        options_(options),
        ways_(find_ways(problem)),
        loads_(problem.device_count()),
        resident_(problem.device_count()),
        device_of_group_(problem.group_names.size()) {}

  Outcome evaluate(const Placement& placement, const Want& want) override {
    if (want.usage) *want.usage = {};
    if (want.timeline) *want.timeline = {};
    const std::vector<std::uint8_t>& device = placement.device;
    std::fill(loads_.begin(), loads_.end(), DeviceLoad{});
    std::fill(resident_.begin(), resident_.end(), 0);
    for (std::uint32_t op = 0; op < p_.op_count(); ++op) {
      const Ticks time = p_.time(OpId{op}, DeviceId{device[op]});
      if (time == cannot_run) return {.why = Infeasible::unsupported_op, .device = device[op], .subject = op};
      phase(OpId{op}, device[op]).compute += time;
      resident_[device[op]] += p_.resident[op];
    }
    Usage usage;
    if (want.usage) {
      usage.channel_busy.assign(p_.channels.size(), 0);
      usage.channel_bytes.assign(p_.channels.size(), 0);
    }
    for (std::uint32_t tensor = 0; tensor < p_.tensor_count(); ++tensor)
      if (const Outcome missing = pay(TensorId{tensor}, device, want.usage ? &usage : nullptr); !missing.feasible())
        return missing;
    Outcome outcome = split_group(device);
    outcome.makespan = value();
    judge_memory(outcome);
    if (want.usage) {
      for (const DeviceLoad& load : loads_) usage.device_busy.push_back(load.forward.compute + load.backward.compute);
      usage.device_peak = resident_;
      *want.usage = std::move(usage);
    }
    return outcome;
  }

  [[nodiscard]] const std::vector<DeviceLoad>& loads() const { return loads_; }

 private:
  PhaseLoad& phase(OpId op, std::size_t device) {
    return p_.is_backward(op) ? loads_[device].backward : loads_[device].forward;
  }

  // Once at each end, if anyone elsewhere wants the tensor.
  Outcome pay(TensorId tensor, const std::vector<std::uint8_t>& device, Usage* usage) {
    const OpId producer = p_.producer[tensor.index()];
    const std::uint8_t from = device[producer.index()];
    std::bitset<max_devices> ends;
    for (const std::uint32_t consumer : p_.consumers[tensor.index()])
      if (device[consumer] != from) ends.set(device[consumer]);
    if (ends.none()) return {};
    ends.set(from);
    for (std::size_t d = 0; d < ways_.size(); ++d) {
      if (!ends[d] || !ways_[d].pays) continue;
      const bool out = d == from;
      const Way* way = quickest(out ? ways_[d].out : ways_[d].in, tensor);
      if (way == nullptr)
        return {.why = Infeasible::missing_route, .device = static_cast<std::uint8_t>(d), .subject = tensor.value};
      const Ticks time = time_of(*way, tensor);
      phase(producer, d).transfer += time;
      if (usage == nullptr) continue;
      for (const std::uint32_t channel :
           out ? p_.route(DeviceId{d}, way->partner) : p_.route(way->partner, DeviceId{d})) {
        usage->channel_busy[channel] += time;
        usage->channel_bytes[channel] += p_.tensor_bytes[tensor.index()];
      }
    }
    return {};
  }

  [[nodiscard]] Ticks time_of(const Way& way, TensorId tensor) const {
    return p_.transfer_time[tensor.index() * p_.route_classes.size() + way.route_class];
  }

  // Ties: the smallest host. Null: there is no way.
  [[nodiscard]] const Way* quickest(const std::vector<Way>& ways, TensorId tensor) const {
    const Way* best = nullptr;
    for (const Way& way : ways)
      if (best == nullptr || time_of(way, tensor) < time_of(*best, tensor)) best = &way;
    return best;
  }

  [[nodiscard]] Ticks value() const {
    Ticks both = 0, forward = 0, backward = 0;
    for (const DeviceLoad& load : loads_) {
      both = std::max(both, load_of(load, options_));
      forward = std::max(forward, load_of({load.forward, {}}, options_));
      backward = std::max(backward, load_of({{}, load.backward}, options_));
    }
    return options_.separate_phases ? forward + backward : both;
  }

  Outcome split_group(const std::vector<std::uint8_t>& device) {
    constexpr std::uint16_t nowhere = max_devices;
    std::fill(device_of_group_.begin(), device_of_group_.end(), nowhere);
    std::size_t split = device_of_group_.size();
    for (std::size_t op = 0; op < device.size(); ++op) {
      if (p_.group[op].is_none()) continue;
      std::uint16_t& known = device_of_group_[p_.group[op].index()];
      if (known == nowhere) known = device[op];
      if (known != device[op]) split = std::min(split, p_.group[op].index());
    }
    if (split == device_of_group_.size()) return {};
    return {.why = Infeasible::split_group, .subject = static_cast<std::uint32_t>(split)};
  }

  void judge_memory(Outcome& outcome) const {
    for (std::size_t d = 0; d < resident_.size(); ++d) {
      if (resident_[d] <= p_.devices[d].memory) continue;
      outcome.overflow += resident_[d] - p_.devices[d].memory;
      if (!outcome.feasible()) continue;
      outcome.why = Infeasible::memory;
      outcome.device = static_cast<std::uint8_t>(d);
    }
  }

  const Problem& p_;
  const PipelineOptions options_;
  const std::vector<DeviceWays> ways_;
  std::vector<DeviceLoad> loads_;  // D
  std::vector<Bytes> resident_;    // D
  std::vector<std::uint16_t> device_of_group_;
};

}  // namespace

std::unique_ptr<Engine> make_pipeline_engine(const Problem& problem, const PipelineOptions& options) {
  return std::make_unique<PipelineEngine>(problem, options);
}

std::vector<DeviceLoad> pipeline_loads(const Problem& problem, const Placement& placement) {
  PipelineEngine engine(problem, {});
  return engine.evaluate(placement, {}).timed() ? engine.loads() : std::vector<DeviceLoad>{};
}

Ticks load_of(const DeviceLoad& load, const PipelineOptions& options) {
  const Ticks compute = load.forward.compute + load.backward.compute;
  const Ticks transfer = load.forward.transfer + load.backward.transfer;
  return options.overlap ? std::max(compute, transfer) : compute + transfer;
}

std::string pipeline_reason_text(const Problem& problem, const Outcome& outcome,
                                 const std::vector<std::uint8_t>& devices, const Usage& usage) {
  if (outcome.why != Infeasible::missing_route) return reason_text(problem, outcome, devices, usage);
  const OpId producer = problem.producer[outcome.subject];
  const bool out = devices[producer.index()] == outcome.device;
  return fmt::format("there is no route {} device {} {} a host, which the output of op {} needs", out ? "from" : "to",
                     quote(problem.devices[outcome.device].name), out ? "to" : "from",
                     quote(problem.op_names[producer.index()]));
}

}  // namespace emplace
