// simulate(): many placements, and the outcomes that Python's Simulation keeps.
#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>

#include "batches.hpp"
#include "emplace/base/error.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::python {

namespace {

// The C++ part of Python's Simulation: the outcomes, and what is needed to explain them later.
struct Outcomes {
  ProblemHandle problem;
  Objective objective;
  std::vector<Outcome> outcomes;
  std::vector<std::uint8_t> sender;
  std::optional<py::array_t<Bytes>> peaks;

  template <class T, class Get>
  [[nodiscard]] py::array_t<T> array(Get get) const {
    py::array_t<T> values(static_cast<py::ssize_t>(outcomes.size()));
    std::ranges::transform(outcomes, values.mutable_data(), get);
    return values;
  }
  [[nodiscard]] std::string reason(std::size_t row) const {
    const Problem& p = problem->problem();
    const Outcome& outcome = outcomes.at(row);
    std::vector<std::uint8_t> devices;
    if (outcome.why == Infeasible::missing_route) {
      devices.resize(p.op_count());
      devices[p.producer[outcome.subject].index()] = sender[row];
    }
    Usage usage;
    if (outcome.why == Infeasible::memory && peaks) {
      const Bytes* const first = peaks->data() + row * p.device_count();
      usage.device_peak.assign(first, first + p.device_count());
    }
    return simulate::reason_of(objective, p, outcome, devices, usage);
  }
};

Outcomes simulate_all(const ProblemHandle& self, const py::array_t<std::uint8_t>& devices, const std::string& schedule,
                      const std::string& objective, const std::optional<py::array_t<std::uint32_t>>& order,
                      std::size_t threads, bool want_peaks, bool one) {
  const Problem& problem = self->problem();
  const auto count = static_cast<std::size_t>(devices.shape(0));
  Outcomes result{self, objective_of(objective, "objective"), std::vector<Outcome>(count),
                  std::vector<std::uint8_t>(count), std::nullopt};
  if (want_peaks) result.peaks.emplace(std::vector<std::size_t>{count, problem.device_count()});
  Batch batch{problem,
              *self->engines,
              schedule_of(schedule, "schedule"),
              result.objective,
              Rows<std::uint8_t>(devices),
              count,
              one,
              {},
              {},
              result.outcomes.data(),
              result.sender.data(),
              result.peaks ? result.peaks->mutable_data() : nullptr};
  if (order && order->ndim() == 1) {
    batch.common_order.resize(problem.op_count());
    for (std::size_t i = 0; i < batch.common_order.size(); ++i)
      batch.common_order[i] = order->at(static_cast<py::ssize_t>(i));
    check_placement(problem, {std::vector<std::uint8_t>(problem.op_count(), 0), batch.common_order}, "order");
  } else if (order) {
    batch.order.emplace(*order);
  }
  if (batch.objective == Objective::step && batch.schedule != Schedule::fifo && !order)
    throw InputError("order", "the schedule {} needs an order", name_of(batch.schedule));
  Signals signals;
  {
    const py::gil_scoped_release released;
    run_batch(batch, threads, signals);
  }
  signals.rethrow();
  return result;
}

// CPU seconds of a plain C++ loop of the engine over the rows, with which python/bench.py compares simulate().
double seconds_of_engine(const ProblemHandle& self, const py::array_t<std::uint8_t>& devices,
                         const std::string& schedule, const std::optional<Order>& order, bool want_peaks,
                         std::size_t repetitions) {
  const Problem& problem = self->problem();
  std::vector<Placement> placements(static_cast<std::size_t>(devices.shape(0)));
  const Rows<std::uint8_t> rows(devices);
  for (std::size_t i = 0; i < placements.size(); ++i) {
    placements[i].device.resize(problem.op_count());
    rows.copy(i, placements[i].device.data());
    if (order) placements[i].order.assign(order->data(), order->data() + order->size());
    check_placement(problem, placements[i], "placements");
  }
  const auto engine = simulate::make_exact_engine(problem, schedule_of(schedule, "schedule"));
  Usage usage;
  const py::gil_scoped_release released;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i <= repetitions; ++i) {  // the first warms the engine up
    const std::clock_t begin = std::clock();
    for (const Placement& placement : placements)
      (void)engine->evaluate(placement, {.usage = want_peaks ? &usage : nullptr});
    if (i > 0) best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

}  // namespace

void add_simulate(py::module_& module) {
  py::class_<Outcomes>(module, "Outcomes")
      .def_property_readonly(
          "makespan_ps",
          [](const Outcomes& o) { return o.array<Ticks>([](const Outcome& each) { return each.makespan; }); })
      .def_property_readonly(
          "overflow_bytes",
          [](const Outcomes& o) { return o.array<Bytes>([](const Outcome& each) { return each.overflow; }); })
      .def_property_readonly(
          "feasible",
          [](const Outcomes& o) { return o.array<bool>([](const Outcome& each) { return each.feasible(); }); })
      .def_property_readonly("peak_bytes", [](const Outcomes& o) { return o.peaks; })
      .def("reason", &Outcomes::reason);
  module.def("simulate", simulate_all);
  module.def("seconds_of_engine", seconds_of_engine);
}

}  // namespace emplace::python
