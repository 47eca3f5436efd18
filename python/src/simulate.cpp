// Simulations: many placements on several threads, and the timeline of one placement.
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <thread>

#include "base/cores.hpp"
#include "bind.hpp"
#include "emplace/base/error.hpp"
#include "emplace/problem/outcome.hpp"
#include "engines.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "simulate/timeline/critical_path.hpp"

namespace emplace::python {

namespace {

using Clock = std::chrono::steady_clock;

// The rows of an array with any strides.
template <class T>
struct Rows {
  const char* data;
  std::size_t columns;
  std::ptrdiff_t row_stride, column_stride;  // bytes

  explicit Rows(const py::array_t<T>& array)
      : data(static_cast<const char*>(static_cast<const void*>(array.data()))),
        columns(static_cast<std::size_t>(array.shape(1))),
        row_stride(array.strides(0)),
        column_stride(array.strides(1)) {}

  // Copies a row. Engines get only checked copies, because other threads of the caller may write to the array
  // meanwhile.
  void copy(std::size_t row, T* to) const {
    const char* at = data + static_cast<std::ptrdiff_t>(row) * row_stride;
    if (column_stride == static_cast<std::ptrdiff_t>(sizeof(T))) {
      std::memcpy(to, at, columns * sizeof(T));
      return;
    }
    for (std::size_t c = 0; c < columns; ++c, at += column_stride) std::memcpy(to + c, at, sizeof(T));
  }
};

// The arguments and results of a call of simulate(); its arrays have a row for each of `count` placements.
struct Batch {
  const Problem& problem;
  EnginePool& engines;
  Schedule schedule;
  Objective objective;
  Rows<std::uint8_t> devices;
  std::size_t count;
  bool one;                                  // the caller gave a single placement (for messages)
  std::vector<std::uint32_t> common_order;   // one order for all placements; or
  std::optional<Rows<std::uint32_t>> order;  // an order for each; or neither
  Outcome* outcomes;
  std::uint8_t* sender;  // the device that sends the tensor without a route
  Bytes* peaks;          // count x D, or null

  [[nodiscard]] std::string place(std::size_t row) const {
    return one ? "placement" : fmt::format("placements[{}]", row);
  }
  void read_devices(std::size_t row, std::uint8_t* to) const {
    devices.copy(row, to);
    std::uint8_t largest = 0;
    for (std::size_t op = 0; op < devices.columns; ++op) largest = std::max(largest, to[op]);
    if (largest >= problem.device_count()) check_placement(problem, {{to, to + devices.columns}, {}}, place(row));
  }
  void note(std::size_t row, const Outcome& outcome, const std::uint8_t* placed) const {
    outcomes[row] = outcome;
    if (outcome.why == Infeasible::missing_route) sender[row] = placed[problem.producer[outcome.subject].index()];
  }
};

// Simulates the rows that one thread gets, one placement after the other.
class OneByOne {
 public:
  explicit OneByOne(const Batch& batch) : batch_(batch), engine_(batch.engines.take(batch.schedule, batch.objective)) {
    placement_.device.resize(batch.devices.columns);
    if (batch.order) placement_.order.resize(batch.devices.columns);
    if (!batch.common_order.empty()) placement_.order = batch.common_order;
  }
  ~OneByOne() { batch_.engines.give_back(batch_.schedule, batch_.objective, std::move(engine_)); }
  OneByOne(const OneByOne&) = delete;
  OneByOne& operator=(const OneByOne&) = delete;

  void run(std::size_t begin, std::size_t end) {
    const std::size_t devices = batch_.problem.device_count();
    for (std::size_t row = begin; row < end; ++row) {
      batch_.read_devices(row, placement_.device.data());
      if (batch_.order) {
        batch_.order->copy(row, placement_.order.data());
        check_placement(batch_.problem, placement_, batch_.place(row));
      }
      batch_.note(row, engine_->evaluate(placement_, {.usage = batch_.peaks != nullptr ? &usage_ : nullptr}),
                  placement_.device.data());
      if (batch_.peaks == nullptr) continue;
      Bytes* const peaks = batch_.peaks + row * devices;
      if (batch_.outcomes[row].timed())
        std::copy_n(usage_.device_peak.begin(), devices, peaks);
      else
        std::fill_n(peaks, devices, Bytes{-1});
    }
  }

 private:
  const Batch& batch_;
  std::unique_ptr<simulate::Engine> engine_;
  Placement placement_;
  Usage usage_;
};

// Simulates the rows that one thread gets, 16 at a time under the common order.
class InLockStep {
 public:
  InLockStep(const Batch& batch, std::unique_ptr<simulate::BatchEngine> engine)
      : batch_(batch), engine_(std::move(engine)), devices_(simulate::batch_lanes * batch.devices.columns) {}
  ~InLockStep() { batch_.engines.give_back(batch_.common_order, std::move(engine_)); }
  InLockStep(const InLockStep&) = delete;
  InLockStep& operator=(const InLockStep&) = delete;

  void run(std::size_t begin, std::size_t end) {
    constexpr std::size_t lanes = simulate::batch_lanes;
    const std::uint8_t* rows[lanes];
    Outcome outcomes[lanes];
    for (std::size_t first = begin; first < end; first += lanes) {
      const std::size_t count = std::min(lanes, end - first);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint8_t* const row = devices_.data() + i * batch_.devices.columns;
        batch_.read_devices(first + i, row);
        rows[i] = row;
      }
      engine_->evaluate({rows, count}, {outcomes, count});
      for (std::size_t i = 0; i < count; ++i) batch_.note(first + i, outcomes[i], rows[i]);
    }
  }

 private:
  const Batch& batch_;
  std::unique_ptr<simulate::BatchEngine> engine_;
  std::vector<std::uint8_t> devices_;
};

// Hands out the rows of a batch to threads. Of several errors it keeps that of the first row, so that the message does
// not depend on the threads.
class Shares {
 public:
  Shares(std::size_t count, std::size_t at_a_time) : count_(count), at_a_time_(at_a_time) {}

  // Runs pieces until none is left or `check`, called before each piece, returns true.
  template <class Runner, class Check>
  void work(Runner&& runner, Check&& check) {
    while (!failed_ && !check()) {
      const std::size_t begin = next_.fetch_add(at_a_time_);
      if (begin >= count_) return;
      try {
        runner.run(begin, std::min(begin + at_a_time_, count_));
      } catch (...) {
        // Earlier pieces were handed out earlier, and their threads finish them.
        const std::lock_guard lock(mutex_);
        if (!error_ || begin < error_at_) {
          error_ = std::current_exception();
          error_at_ = begin;
        }
        failed_ = true;
      }
    }
  }
  void end() { failed_ = true; }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  const std::size_t count_, at_a_time_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t error_at_ = 0;
};

// Runs Python's signal handlers every 20 ms and returns whether one raised. For the calling thread, without the GIL.
class Signals {
 public:
  bool operator()() {
    if (raised_) return true;
    if (Clock::now() < next_) return false;
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() != 0) raised_.emplace();
    next_ = Clock::now() + std::chrono::milliseconds(20);
    return raised_.has_value();
  }
  // With the GIL.
  void rethrow() {
    if (raised_) throw py::error_already_set(*raised_);
  }

 private:
  Clock::time_point next_ = Clock::now() + std::chrono::milliseconds(20);
  std::optional<py::error_already_set> raised_;
};

std::size_t threads_of(std::size_t wanted, std::size_t pieces) {
  return std::max<std::size_t>(1, std::min(wanted == 0 ? allowed_cores().size() : wanted, pieces));
}

template <class MakeRunner>
void run_batch(const Batch& batch, std::size_t wanted_threads, std::size_t at_a_time, MakeRunner&& make_runner,
               Signals& signals) {
  Shares shares(batch.count, at_a_time);
  const std::size_t threads = threads_of(wanted_threads, (batch.count + at_a_time - 1) / at_a_time);
  const auto helper = [&] {
    try {
      auto runner = make_runner();
      shares.work(runner, [] { return false; });
    } catch (...) {  // no memory for an engine: the other threads do its part
    }
  };
  std::vector<std::jthread> helpers;
  try {
    while (helpers.size() + 1 < threads) helpers.emplace_back(helper);
  } catch (const std::system_error&) {  // the system starts no further thread: those that run do the work
  }
  try {
    auto runner = make_runner();
    shares.work(runner, [&] {
      const bool end = signals();
      if (end) shares.end();
      return end;
    });
  } catch (...) {
    shares.end();
    throw;
  }
  helpers.clear();  // joins
  shares.rethrow();
}

void run_batch(const Batch& batch, std::size_t threads, Signals& signals) {
  constexpr std::size_t units_a_piece = 30'000;  // ops and edges: a third of a millisecond
  const std::size_t units = batch.problem.op_count() + batch.problem.edge_count();
  const std::size_t at_a_time = std::max<std::size_t>(1, units_a_piece / std::max<std::size_t>(1, units));
  if (batch.objective == Objective::step && batch.schedule == Schedule::in_order && batch.peaks == nullptr &&
      !batch.common_order.empty() && batch.count >= simulate::batch_lanes) {
    if (auto engine = batch.engines.take_batch(batch.common_order)) {
      batch.engines.give_back(batch.common_order, std::move(engine));
      constexpr std::size_t lanes = simulate::batch_lanes;
      return run_batch(
          batch, threads, (10 * at_a_time + lanes - 1) / lanes * lanes,
          [&] { return InLockStep(batch, batch.engines.take_batch(batch.common_order)); }, signals);
    }
  }
  run_batch(
      batch, threads, at_a_time, [&] { return OneByOne(batch); }, signals);
}

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

// ---- One placement --------------------------------------------------------------------------------------------------

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

void add_simulate(py::module_& module) {
  PYBIND11_NUMPY_DTYPE(TransferRow, tensor, from_device, to_device, requested_ps, start_ps, end_ps);
  PYBIND11_NUMPY_DTYPE(StepRow, op, transfer, tensor, channel, reason, ready_ps, start_ps, end_ps);
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
  module.def("timeline", timeline);
  module.def("critical_path", critical_path);
  module.def("path_reasons", path_reasons);
}

}  // namespace emplace::python
