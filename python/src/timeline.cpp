// timeline() and critical_path() of one placement.
#include <optional>

#include "bind.hpp"
#include "emplace/base/error.hpp"
#include "emplace/problem/outcome.hpp"
#include "engines.hpp"
#include "simulate/timeline/critical_path.hpp"

namespace emplace::python {

namespace {

struct TransferRow {
  std::uint32_t tensor;
  std::uint8_t from_device, to_device;
  std::int64_t requested_ps, start_ps, end_ps;
};

struct StepRow {
  std::int32_t op, transfer, tensor, channel;
  std::uint8_t reason;
  std::int64_t ready_ps, start_ps, end_ps;
};

struct Traced {
  Placement placement;
  Outcome outcome;
  Usage usage;
  simulate::Timeline timeline;
};

Traced trace(const LoadedProblem& self, const Devices& devices, Schedule schedule, const std::optional<Order>& order) {
  Traced traced;
  traced.placement = placement_of(self.problem(), devices, order);
  {
    const py::gil_scoped_release released;
    auto engine = self.engines->take(schedule, Objective::step);
    traced.outcome = engine->evaluate(traced.placement, {.usage = &traced.usage, .timeline = &traced.timeline});
    self.engines->give_back(schedule, Objective::step, std::move(engine));
  }
  if (!traced.outcome.timed())
    throw InputError("placement", "has no times: {}",
                     reason_text(self.problem(), traced.outcome, traced.placement.device, traced.usage));
  return traced;
}

py::dict timeline(const LoadedProblem& self, const Devices& devices, const std::string& schedule,
                  const std::optional<Order>& order) {
  const Traced traced = trace(self, devices, schedule_of(schedule, "schedule"), order);
  py::array_t<TransferRow> transfers(static_cast<py::ssize_t>(traced.timeline.transfers.size()));
  TransferRow* to = transfers.mutable_data();
  for (const auto& each : traced.timeline.transfers)
    *to++ = {each.tensor.value,
             static_cast<std::uint8_t>(each.from.value),
             static_cast<std::uint8_t>(each.to.value),
             each.requested,
             each.start,
             each.end};
  py::dict result;
  result["makespan_ps"] = traced.outcome.makespan;
  result["op_start_ps"] = to_array(traced.timeline.op_start);
  result["op_end_ps"] = to_array(traced.timeline.op_end);
  result["transfers"] = transfers;
  result["device_busy_ps"] = to_array(traced.usage.device_busy);
  result["device_peak_bytes"] = to_array(traced.usage.device_peak);
  result["channel_busy_ps"] = to_array(traced.usage.channel_busy);
  result["channel_bytes"] = to_array(traced.usage.channel_bytes);
  return result;
}

// Ids as signed numbers, -1 for none.
template <class Tag>
std::int32_t number(Id<Tag> id) {
  return static_cast<std::int32_t>(id.value);
}

py::tuple critical_path(const LoadedProblem& self, const Devices& devices, const std::string& schedule_name,
                        const std::optional<Order>& order) {
  const Schedule schedule = schedule_of(schedule_name, "schedule");
  const Traced traced = trace(self, devices, schedule, order);
  const auto path = simulate::critical_path(self.problem(), traced.placement, schedule, traced.timeline);
  py::array_t<StepRow> steps(static_cast<py::ssize_t>(path.size()));
  StepRow* to = steps.mutable_data();
  for (const simulate::PathStep& step : path)
    *to++ = {number(step.op),
             step.is_op() ? -1 : static_cast<std::int32_t>(step.transfer),
             step.is_op() ? number(step.tensor) : number(traced.timeline.transfers[step.transfer].tensor),
             number(step.channel),
             static_cast<std::uint8_t>(step.reason),
             step.ready,
             step.start,
             step.end};
  const simulate::PathShares shares = simulate::shares_of(path);
  return py::make_tuple(steps, shares.computing, shares.transferring, shares.waiting);
}

std::vector<std::string> path_reasons() {
  std::vector<std::string> names;
  for (const auto reason : {simulate::Reason::none, simulate::Reason::input, simulate::Reason::device_busy,
                            simulate::Reason::channel_busy, simulate::Reason::turn})
    names.emplace_back(simulate::name_of(reason));
  return names;
}

}  // namespace

void add_timeline(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(TransferRow, tensor, from_device, to_device, requested_ps, start_ps, end_ps);
  PYBIND11_NUMPY_DTYPE(StepRow, op, transfer, tensor, channel, reason, ready_ps, start_ps, end_ps);
  module.def("timeline", timeline);
  module.def("critical_path", critical_path);
  module.def("path_reasons", path_reasons);
}

}  // namespace emplace::python
