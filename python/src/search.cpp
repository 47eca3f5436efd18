// Placers and lower bounds.
#include <chrono>
#include <cmath>
#include <optional>

#include "bind.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "experiment/run/placing_backend.hpp"
#include "search/common/first_placement.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "waiting.hpp"

namespace emplace::python {

namespace {

struct Placed {
  search::PlacerResult result;
  search::ResultProof proof;
  double seconds = 0;
};

py::dict place(const ProblemHandle& self, const std::string& method, std::optional<double> seconds,
               std::optional<std::uint64_t> evaluations, std::uint64_t seed, const std::string& schedule,
               const std::string& objective, const std::optional<Devices>& start,
               const std::optional<Order>& start_order, const py::dict& options) {
  const evaluate::Scoring scoring{schedule_of(schedule, "schedule"), objective_of(objective, "objective")};
  const ConfigTable table = config_of(options, "place");
  std::optional<Placement> begin;
  if (start) {
    search::refuse_start_where_unused("start", method);
    begin = placement_of(self->problem(), *start, start_order);
    if (scoring.schedule != Schedule::fifo && begin->order.empty())
      throw InputError("start", "the schedule {} needs an order, and the placement has none",
                       name_of(scoring.schedule));
  }
  const Placed placed = work_and_wait(
      [=](Meeting& meeting) {
        const Problem& problem = self->problem();
        const auto backend = experiment::make_placing_backend(nullptr, problem, scoring);
        search::PlacerRequest request = experiment::request_for(self->loaded, scoring, backend);
        request.seconds = seconds;
        request.evaluations = evaluations;
        request.seed = seed;
        if (begin) request.start = &*begin;
        request.stop = [&meeting] { return meeting.stopped(); };
        const auto began = std::chrono::steady_clock::now();
        Placed done;
        done.result = search::place_with(method, request, table);
        done.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
        done.proof = search::proof_of(done.result, method, search::lower_bound(problem, scoring.objective));
        return done;
      },
      usual_patience);
  const search::PlacerResult& result = placed.result;
  py::dict dict;
  dict["placement"] = to_array(result.placement.device);
  dict["order"] = result.placement.order.empty() ? py::object(py::none()) : to_array(result.placement.order);
  dict["makespan_ps"] = result.outcome.makespan;
  dict["feasible"] = result.outcome.feasible();
  dict["reason"] = simulate::reason_of(scoring.objective, self->problem(), result.outcome, result.placement.device, {});
  dict["evaluations"] = result.evaluations;
  dict["seconds"] = placed.seconds;
  dict["lower_bound_ps"] = placed.proof.bound.ticks;
  dict["proved_optimal"] = placed.proof.optimal;
  dict["note"] = result.note;
  return dict;
}

py::tuple bound(const ProblemHandle& self, double seconds, const std::string& objective) {
  if (!(seconds > 0 && std::isfinite(seconds)))
    throw InputError("seconds", "a budget must be above zero and finite, found {}", seconds);
  const Objective what = objective_of(objective, "objective");
  const search::BoundReport report = work_and_wait(
      [=](Meeting& meeting) {
        return search::lower_bounds(self->problem(), what, seconds, [&meeting] { return meeting.stopped(); });
      },
      usual_patience);
  py::list methods;
  for (const search::LowerBound& each : report.methods) methods.append(py::make_tuple(each.method, each.ticks));
  const search::LowerBound best = report.best();
  return py::make_tuple(report.infeasible, best.ticks, best.method, methods);
}

}  // namespace

void add_search(py::module_& module) {
  module.def("place", place);
  module.def("bound", bound);
}

}  // namespace emplace::python
