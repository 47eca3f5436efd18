#include "fit/fitter.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/simulate/engine.hpp"
#include "emplace/source/load_problem.hpp"
#include "fit/buffers.hpp"
#include "fit/greedy.hpp"
#include "fit/planner.hpp"
#include "fit/step_chain.hpp"
#include "language/language_graph.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::fit {

namespace {

constexpr int most_trials = 4, bound_steps = 300;

Bytes plus(Bytes a, Bytes b) { return a > total_limit - b ? total_limit : a + b; }

}  // namespace

void Fitter::plan() {
  prepare();
  for (int trial = 0; trial < most_trials; ++trial) {
    fit_.plan.reset();
    fit_.greedy.clear();
    for (const RuntimeSpace& space : spaces_of(request_.runtime->rules, fit_.chain, fit_.kinds)) plan_in(space);
    compare();
    if (!fit_.plan || !lacks_buffers()) break;
  }
  if (fit_.plan && lacks_buffers()) fit_.plan.reset();
  if (!fit_.plan) fit_.proved = fit_.available != no_memory_limit && weights_and_cache_ > fit_.available;
}

Fit Fitter::finish() {
  fit_.parallel = formation_.parallel;
  for (std::size_t d = 0; d < fit_.kinds.size(); ++d) add_device(d);
  if (fit_.plan) {
    fit_.first_token_s = first_token();
    fit_.shares = time_shares(fit_.problem, request_.machine, fit_.plan->placement, traffic_);
    fit_.saying = request_.runtime->say({request_.model, fit_.chain, fit_.plan->assignment, fit_.plan->order,
                                         fit_.kinds, file_in_lines(), request_.scenario, fit_.parallel});
  }
  return std::move(fit_);
}

void Fitter::prepare() {
  fit_.decode = request_.scenario;
  fit_.decode.phase = language::Phase::decode;
  if (request_.aim == Aim::throughput) fit_.decode.sequences = sequences_of_a_step();
  fit_.prefill = request_.scenario;
  fit_.prefill.phase = language::Phase::prefill;
  fit_.prefill.length = request_.prompt;
  if (request_.prompt > request_.scenario.context)
    throw InputError("--prompt", "{} tokens are more than the context of {}", request_.prompt,
                     request_.scenario.context);
  fit_.problem = problem_of(fit_.decode, step_source(), &traffic_);
  StepChain step = chain_of(fit_.problem, units_of_step(language::units_of(request_.model, request_.scenario)));
  fit_.chain = std::move(step.chain);
  serial_ = step.is_serial;
  for (const Device& device : fit_.problem.devices) {
    fit_.kinds.push_back(device.kind);
    exempt_.push_back(is_host_kind(device.kind) ? 1 : 0);
  }
  add_memory();
}

// A model of the zoo is no file that a runtime could read.
std::string Fitter::file_in_lines() const { return request_.file.starts_with("zoo:") ? "MODEL.gguf" : request_.file; }

std::string Fitter::step_source() const {
  const language::Scenario &step = fit_.decode, usual;
  std::string text = fmt::format("{}{}context={}", request_.file,
                                 request_.file.find('?') == std::string::npos ? '?' : '&', step.context);
  if (step.sequences != usual.sequences) text += fmt::format("&sequences={}", step.sequences);
  if (step.batch != usual.batch) text += fmt::format("&batch={}", step.batch);
  if (step.kv_type != usual.kv_type) text += fmt::format("&kv_type={}", step.kv_type);
  text += "@" + request_.machine_name;
  const Parallel& parallel = formation_.parallel;
  return parallel.is_plain() ? text : text + ", " + name_of(parallel.tensor, parallel.replicas);
}

// Sequences pass through the devices in groups, as many as there are devices that can hold layers.
std::int64_t Fitter::sequences_of_a_step() const {
  const auto accelerators = std::ranges::count_if(
      request_.machine.devices, [](const machine::MachineDevice& device) { return !is_host_kind(device.kind); });
  const std::int64_t groups = std::max<std::int64_t>(1, accelerators);
  return (request_.scenario.sequences + groups - 1) / groups;
}

void Fitter::add_memory() {
  const auto accelerators_count =
      std::ranges::count_if(fit_.kinds, [](const auto& kind) { return !is_host_kind(kind); });
  const UnitBuffers buffers =
      unit_buffers(request_.model, request_.scenario, static_cast<std::size_t>(accelerators_count));
  buffers_ = buffers.layers;
  Bytes units = 0;
  for (Unit& unit : fit_.chain.units) {
    if (unit.kind == UnitKind::input) unit.buffers = buffers.input;
    if (unit.kind == UnitKind::output) unit.buffers = buffers.output;
    units = plus(units, unit.bytes());
  }
  fit_.least = plus(units, buffers_);
  weights_and_cache_ = units - buffers.input - buffers.output - language::copied_bytes(request_.model);
  bool accelerators = false;
  for (const std::string& kind : fit_.kinds) accelerators = accelerators || !is_host_kind(kind);
  for (std::size_t d = 0; d < fit_.kinds.size(); ++d) {
    Bytes& room = fit_.chain.room[d];
    const bool usable = request_.runtime->rules.uses_hosts || !accelerators || !is_host_kind(fit_.kinds[d]);
    if (room == no_memory_limit) {
      if (usable) fit_.available = no_memory_limit;
      continue;
    }
    if (usable && fit_.available != no_memory_limit)
      fit_.available = plus(fit_.available, std::max<Bytes>(0, room - reserved(d)));
    room = std::max<Bytes>(0, room - reserved(d) - buffers_);
  }
}

Problem Fitter::problem_of(const language::Scenario& scenario, const std::string& name, Traffic* traffic) const {
  const Graph graph = language::language_graph(request_.model, scenario, request_.file);
  if (traffic != nullptr) *traffic = traffic_of(graph);
  Problem problem = source::make_problem(graph, request_.machine, {}, name).problem;
  add_exchanges(problem, formation_);
  return problem;
}

// The buffers of the plan as they are. Where they are larger than was planned for, there is less room the next time.
bool Fitter::lacks_buffers() {
  plan_buffers_ = plan_buffers(request_.model, request_.scenario, fit_.chain, fit_.plan->assignment);
  const std::vector<Bytes> bytes = held(fit_.chain, fit_.plan->assignment);
  bool lacks = false;
  for (std::size_t d = 0; d < bytes.size(); ++d) {
    Bytes buffers = 0;
    for (std::size_t u = 0; u < fit_.chain.size(); ++u)
      if (fit_.plan->assignment[u] == d) buffers += fit_.chain.units[u].buffers;
    const Bytes needed = plus(bytes[d] - buffers, plan_buffers_[d] + reserved(d));
    const Bytes memory = fit_.problem.devices[d].memory;
    if (bytes[d] == 0 || memory == no_memory_limit || needed <= memory) continue;
    fit_.chain.room[d] = std::max<Bytes>(0, fit_.chain.room[d] - (needed - memory));
    lacks = true;
  }
  return lacks;
}

// Of all plans of the runtime whose weights and caches have room, whatever buffers they need.
std::optional<double> Fitter::bound() const {
  if (!serial_) return std::nullopt;
  Ticks least = total_limit;
  for (const RuntimeSpace& space : spaces_of(request_.runtime->rules, fit_.chain, fit_.kinds)) {
    Chain chain = space.merged.chain;
    for (Unit& unit : chain.units) unit.buffers = 0;
    for (std::size_t d = 0; d < chain.device_count(); ++d) {
      const Bytes memory = fit_.problem.devices[d].memory;
      if (memory == no_memory_limit) continue;
      // A device with input and output has the embedding once, but both are counted.
      const Bytes twice = space.space.allowed[d] != 0 ? language::copied_bytes(request_.model) : 0;
      chain.room[d] = plus(std::max<Bytes>(0, memory - reserved(d)), twice);
    }
    const Ticks target = fit_.plan ? fit_.plan->ticks : 0;
    const RelaxedBound relaxed = relaxed_bound(chain, space.space, request_.aim, target, bound_steps);
    if (!relaxed.infeasible) least = std::min(least, relaxed.ticks);
  }
  if (least == 0) return std::nullopt;
  return least == total_limit ? 0 : rate_of(least);
}

// Adds what greedy rules and the planner find.
void Fitter::plan_in(const RuntimeSpace& space) {
  const Rules& rules = request_.runtime->rules;
  std::vector<FitPlan> found;
  PlannerRequest request{.chain = space.merged.chain,
                         .space = space.space,
                         .orders = space.orders,
                         .first_exchanged = static_cast<std::size_t>(
                             std::ranges::count_if(space.orders[0], [&](std::uint8_t d) { return exempt_[d] != 0; })),
                         .all_orders = space.all_orders,
                         .aim = request_.aim,
                         .exempt = exempt_,
                         .starts = {}};
  for (std::size_t i = 0; i < greedy_rules().size(); ++i) {
    const GreedyRule& rule = greedy_rules()[i];
    if (fit_.greedy.size() <= i) fit_.greedy.push_back({rule.name, std::nullopt});
    GreedyRequest greedy{.chain = fit_.chain,
                         .hosts = {},
                         .accelerators = {},
                         .input_on_host = rules.input_on_host || (!rules.whole_layers && rules.uses_hosts)};
    for (const std::uint8_t d : space.orders[0])
      (is_host_kind(fit_.kinds[d]) ? greedy.hosts : greedy.accelerators).push_back(d);
    const std::optional<Assignment> placed = rule.place(greedy);
    if (!placed) continue;
    std::optional<FitPlan>& best = fit_.greedy[i].plan;
    FitPlan plan = simulated(rule.name, *placed, space.orders[0]);
    if (!best || plan.ticks < best->ticks) best = std::move(plan);
    Assignment merged(space.merged.chain.size());
    for (std::size_t u = 0; u < placed->size(); ++u) merged[space.merged.group[u]] = (*placed)[u];
    request.starts.push_back(std::move(merged));
  }
  const Planned planned = emplace::fit::plan(request);
  if (!planned.assignment) return;
  FitPlan plan = simulated("plan", space.merged.expand(*planned.assignment), planned.order);
  if (!fit_.plan || plan.ticks < fit_.plan->ticks) fit_.plan = std::move(plan);
}

// A greedy rule's plan is taken if the simulation prefers it.
void Fitter::compare() {
  for (const GreedyResult& greedy : fit_.greedy)
    if (greedy.plan && (!fit_.plan || greedy.plan->ticks < fit_.plan->ticks)) fit_.plan = greedy.plan;
}

FitPlan Fitter::simulated(std::string method, Assignment assignment, std::vector<std::uint8_t> order) const {
  FitPlan plan{.method = std::move(method),
               .assignment = std::move(assignment),
               .order = std::move(order),
               .placement = {},
               .ticks = total_limit};
  plan.placement = placement_of(fit_.problem, fit_.chain.units, plan.assignment);
  const auto engine = request_.aim == Aim::latency ? simulate::make_exact_engine(fit_.problem, Schedule::fifo)
                                                   : simulate::make_pipeline_engine(fit_.problem);
  const Outcome outcome = engine->evaluate(plan.placement);
  if (outcome.timed()) plan.ticks = outcome.makespan;
  plan.tokens_per_s = rate_of(plan.ticks);
  return plan;
}

double Fitter::rate_of(Ticks ticks) const {
  return copies_ * static_cast<double>(fit_.decode.sequences) / to_seconds(std::max<Ticks>(ticks, 1));
}

double Fitter::first_token() const {
  const Problem problem = problem_of(fit_.prefill, request_.file);
  const Placement placement = placement_of(problem, fit_.chain.units, fit_.plan->assignment);
  const Outcome outcome = simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement);
  return outcome.timed() ? to_seconds(outcome.makespan) * language::steps_of(fit_.prefill) : 0;
}

void Fitter::add_device(std::size_t d) {
  DeviceUse use{.name = fit_.chain.devices[d], .kind = fit_.kinds[d], .memory = fit_.problem.devices[d].memory};
  use.chain_device = d;
  if (fit_.plan) {
    for (std::size_t u = 0; u < fit_.chain.size(); ++u) {
      if (fit_.plan->assignment[u] != d) continue;
      const Unit& unit = fit_.chain.units[u];
      use.weights += unit.weights;
      use.cache += unit.cache;
      ++use.units;
    }
    if (use.units > 0) {
      use.buffers = plan_buffers_[d];
      use.reserved = reserved(d);
    }
    // Where both are on one device, a runtime has the embedding once.
    const bool together = fit_.plan->assignment.front() == d && fit_.plan->assignment.back() == d;
    if (together) use.weights -= language::copied_bytes(request_.model);
  }
  fit_.devices.push_back(std::move(use));
}

}  // namespace emplace::fit
