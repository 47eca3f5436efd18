// The load model of docs/papers/tarnawski.md, section 2.1, per tensor and direction as in section 2.9.
#include "simulate/pipeline/pipeline.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bitset>

#include "base/text.hpp"
#include "problem/cuts.hpp"
#include "simulate/pipeline/host_model.hpp"

namespace emplace::simulate {

namespace {

class PipelineEngine final : public Engine {
 public:
  PipelineEngine(const Problem& problem, const PipelineOptions& options)
      : p_(problem), options_(options), model_(problem), loads_(problem.device_count()) {}

  Outcome evaluate(const Placement& placement, const Want& want) override {
    if (want.usage) *want.usage = {};
    if (want.timeline) *want.timeline = {};
    if (want.starts) want.starts->clear();
    const std::vector<std::uint8_t>& device = placement.device;
    if (const Outcome outcome = model_.unsupported_op(device); !outcome.feasible()) return outcome;
    std::fill(loads_.begin(), loads_.end(), DeviceLoad{});
    for (std::size_t op = 0; op < device.size(); ++op)
      phase(OpId{op}, device[op]).compute += p_.time(OpId{op}, DeviceId{device[op]});
    Usage usage;
    if (want.usage) {
      usage.channel_busy.assign(p_.channels.size(), 0);
      usage.channel_bytes.assign(p_.channels.size(), 0);
    }
    for (std::uint32_t tensor = 0; tensor < p_.tensor_count(); ++tensor)
      if (const Outcome missing = pay(TensorId{tensor}, device, want.usage ? &usage : nullptr); !missing.feasible())
        return missing;
    Outcome outcome = model_.split_group(device);
    judge_cuts(p_, device.data(), outcome);
    outcome.makespan = value();
    model_.judge_memory(device, outcome);
    if (want.usage) {
      for (const DeviceLoad& load : loads_) usage.device_busy.push_back(load.forward.compute + load.backward.compute);
      usage.device_peak = model_.resident();
      *want.usage = std::move(usage);
    }
    return outcome;
  }

  [[nodiscard]] const std::vector<DeviceLoad>& loads() const { return loads_; }

 private:
  PhaseLoad& phase(OpId op, std::size_t device) {
    return p_.is_backward(op) ? loads_[device].backward : loads_[device].forward;
  }

  // Adds the tensor's transfer once at its producer's device and once at each other device that consumes it.
  Outcome pay(TensorId tensor, const std::vector<std::uint8_t>& device, Usage* usage) {
    const OpId producer = p_.producer[tensor.index()];
    const std::uint8_t from = device[producer.index()];
    std::bitset<max_devices> ends;
    for (const std::uint32_t consumer : p_.consumers[tensor.index()])
      if (device[consumer] != from) ends.set(device[consumer]);
    if (ends.none()) return {};
    ends.set(from);
    for (std::size_t d = 0; d < loads_.size(); ++d) {
      if (!ends[d] || !model_.pays(d)) continue;
      const bool out = d == from;
      const auto transfer = out ? model_.out(tensor, d) : model_.in(tensor, d);
      if (!transfer)
        return {.why = Infeasible::missing_route, .device = static_cast<std::uint8_t>(d), .subject = tensor.value};
      phase(producer, d).transfer += transfer->time;
      if (usage == nullptr) continue;
      const auto route = out ? p_.route(DeviceId{d}, transfer->host) : p_.route(transfer->host, DeviceId{d});
      for (const std::uint32_t channel : route) {
        usage->channel_busy[channel] += transfer->time;
        usage->channel_bytes[channel] += p_.tensor_bytes[tensor.index()];
      }
    }
    return {};
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

  const Problem& p_;
  const PipelineOptions options_;
  HostModel model_;
  std::vector<DeviceLoad> loads_;  // D
};

}  // namespace

std::unique_ptr<Engine> make_pipeline_engine(const Problem& problem, const PipelineOptions& options) {
  return std::make_unique<PipelineEngine>(problem, options);
}

std::vector<DeviceLoad> pipeline_loads(const Problem& problem, const Placement& placement) {
  PipelineEngine engine(problem, {});
  return engine.evaluate(placement, {}).timed() ? engine.loads() : std::vector<DeviceLoad>{};
}

HostTransfers host_transfers(const Problem& problem, DeviceId device) {
  const HostModel model(problem);
  HostTransfers transfers;
  transfers.pays = model.pays(device.index());
  if (!transfers.pays) return transfers;
  const auto time = [](const std::optional<HostModel::HostTransfer>& transfer) {
    return transfer ? transfer->time : HostTransfers::no_route;
  };
  for (std::size_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    transfers.out.push_back(time(model.out(TensorId{tensor}, device.index())));
    transfers.in.push_back(time(model.in(TensorId{tensor}, device.index())));
  }
  return transfers;
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

std::string reason_of(Objective objective, const Problem& problem, const Outcome& outcome,
                      const std::vector<std::uint8_t>& devices, const Usage& usage) {
  return objective == Objective::pipeline ? pipeline_reason_text(problem, outcome, devices, usage)
                                          : reason_text(problem, outcome, devices, usage);
}

}  // namespace emplace::simulate
