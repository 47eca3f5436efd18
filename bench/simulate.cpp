// Speed of the engines: simulate/ENGINE/WHAT/ops:N/devices:D, counter ns_per_unit = ns per (op + edge) of one
// placement. 64 placements rotate: one repeated placement trains the branch predictor and flatters.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bench/table.hpp"
#include "emplace/base/random.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/simulate/engine.hpp"
#include "simulate/batch/batch.hpp"
#include "simulate/incremental/incremental.hpp"

namespace emplace {
namespace {

constexpr std::size_t rotation = 64;

// One output an op; each op but the first reads one or two earlier ops of the `window` before it, 1.5 edges an op. Op
// times are log-uniform in 1-100 us, tensors in 10 kB - 1 MB; each ordered pair of devices has its channel (10 us, 10
// GB/s), or with `egress` each device one to all others.
Problem random_problem(std::uint32_t ops, std::uint32_t devices, std::uint32_t window, bool egress) {
  Stream random({.seed = 1, .purpose = Purpose::test, .index = ops});
  const auto log_uniform = [&](double low, double high) { return low * std::pow(high / low, random.uniform()); };
  ProblemBuilder builder("bench");
  for (std::uint32_t d = 0; d < devices; ++d) builder.add_device({"d" + std::to_string(d), "", no_memory_limit});
  ChannelId channel;
  for (std::uint32_t i = 0; i < devices; ++i)
    for (std::uint32_t j = 0; j < devices; ++j) {
      if (i == j) continue;
      if (!egress || channel.is_none() || j == (i == 0 ? 1 : 0))
        channel = builder.add_channel({std::to_string(i) + "-" + std::to_string(j), 1e-5, 1e10, true});
      builder.add_route(DeviceId{i}, DeviceId{j}, {channel});
    }
  std::vector<std::vector<OpId>> consumers(ops);
  for (std::uint32_t op = 0; op < ops; ++op) {
    std::vector<double> seconds(devices);
    const double base = log_uniform(1e-6, 1e-4);
    for (double& s : seconds) s = base * (0.5 + random.uniform());
    builder.add_op({"op" + std::to_string(op), "", seconds, 0, 0, ""});
    const std::uint32_t reach = std::min(op, window);
    if (reach == 0) continue;
    const std::uint32_t first = op - 1 - random.below(reach);
    consumers[first].push_back(OpId{op});
    if (reach > 1 && random.below(2) == 0) {
      const std::uint32_t second = op - 1 - random.below(reach);
      if (second != first) consumers[second].push_back(OpId{op});
    }
  }
  for (std::uint32_t op = 0; op < ops; ++op)
    builder.add_tensor(OpId{op}, static_cast<Bytes>(log_uniform(1e4, 1e6)), consumers[op]);
  return builder.build();
}

struct Case {
  Problem problem;
  std::vector<Placement> placements;
};

// Random: each op anywhere. Contiguous: the topological order cut into random stretches, as many as devices.
// The order, for the schedules that need one, is the problem's topological order.
std::shared_ptr<const Case> make_case(std::uint32_t ops, std::uint32_t devices, const std::string& variant) {
  // A benchmark is called several times to find the number of its iterations, and the next one often has the same case.
  static std::tuple<std::uint32_t, std::uint32_t, std::string> made;
  static std::shared_ptr<const Case> kept;
  if (kept && made == std::tuple(ops, devices, variant)) return kept;
  kept.reset();
  auto it = std::make_shared<Case>();
  const bool contiguous = variant == "placements:contiguous";
  // Inputs from anywhere before make a wide graph, with many ops ready at once.
  it->problem = random_problem(ops, devices, variant == "graph:wide" ? ops : 256, variant == "network:egress");
  for (std::uint32_t k = 0; k < rotation; ++k) {
    Stream random({.seed = 2, .purpose = Purpose::test, .update = ops, .index = k});
    Placement placement{std::vector<std::uint8_t>(ops), it->problem.topological};
    std::vector<std::uint32_t> cuts;
    for (std::uint32_t d = 1; d < devices; ++d) cuts.push_back(random.below(ops + 1));
    for (std::uint32_t op = 0; op < ops; ++op)
      placement.device[op] = static_cast<std::uint8_t>(
          contiguous ? std::ranges::count_if(cuts, [&](std::uint32_t cut) { return op >= cut; })
                     : random.below(devices));
    it->placements.push_back(std::move(placement));
  }
  made = {ops, devices, variant};
  kept = it;
  return kept;
}

std::unique_ptr<simulate::Engine> make_engine(const std::string& name, const Problem& problem) {
  if (name == "reference-fifo") return simulate::make_reference_engine(problem, Schedule::fifo);
  if (name == "exact-fifo") return simulate::make_exact_engine(problem, Schedule::fifo);
  if (name == "exact-priority") return simulate::make_exact_engine(problem, Schedule::priority);
  return simulate::make_exact_engine(problem, Schedule::in_order);
}

enum class What { makespan, memory, feasible };

std::string name_of(const std::string& engine, What what, std::uint32_t ops, std::uint32_t devices,
                    const std::string& extra) {
  const char* what_name = what == What::makespan ? "makespan"
                          : what == What::memory ? "makespan+memory"
                                                 : "makespan+feasible";
  return "simulate/" + engine + "/" + what_name + "/ops:" + std::to_string(ops) +
         "/devices:" + std::to_string(devices) + (extra.empty() ? "" : "/" + extra);
}

// Capacities 1.5 times the largest peak of the rotating placements.
void limit_memory(Problem& problem, const Case& it, Schedule schedule) {
  const auto engine = simulate::make_exact_engine(it.problem, schedule);
  std::vector<Bytes> peak(problem.device_count(), 0);
  for (const Placement& placement : it.placements) {
    Usage usage;
    engine->evaluate(placement, {.usage = &usage, .timeline = nullptr});
    for (std::size_t d = 0; d < peak.size(); ++d) peak[d] = std::max(peak[d], usage.device_peak[d]);
  }
  for (std::size_t d = 0; d < peak.size(); ++d) problem.devices[d].memory = peak[d] + peak[d] / 2;
}

void run(benchmark::State& state, const std::string& engine_name, What what, std::uint32_t ops, std::uint32_t devices,
         const std::string& variant) {
  const auto it = make_case(ops, devices, variant);
  Problem problem = it->problem;
  if (what == What::feasible)
    limit_memory(problem, *it,
                 engine_name == "exact-priority"   ? Schedule::priority
                 : engine_name == "exact-in-order" ? Schedule::in_order
                                                   : Schedule::fifo);
  const auto engine = make_engine(engine_name, problem);
  Usage usage;
  const simulate::Want want{.usage = what == What::memory ? &usage : nullptr, .timeline = nullptr};
  std::size_t next = 0;
  const std::clock_t begin = std::clock();
  for (auto _ : state) {
    benchmark::DoNotOptimize(engine->evaluate(it->placements[next], want));
    next = (next + 1) % rotation;
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const auto units = static_cast<double>(problem.op_count() + problem.edge_count());
  state.counters["ns_per_unit"] = seconds * 1e9 / (units * static_cast<double>(state.iterations()));
}

void add(const std::string& engine, What what, std::uint32_t ops, std::uint32_t devices,
         const std::string& extra = "") {
  const std::string name = name_of(engine, what, ops, devices, extra);
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    run(state, engine, what, ops, devices, extra);
  })->Unit(benchmark::kMicrosecond);
}

// The ops in the order in which fifo starts them: in-order with it is the same run.
std::vector<std::uint32_t> fifo_order_of(const Problem& problem, const Placement& placement) {
  simulate::Timeline timeline;
  simulate::make_exact_engine(problem, Schedule::fifo)->evaluate(placement, {.usage = nullptr, .timeline = &timeline});
  std::vector<std::uint32_t> order = problem.topological;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return timeline.op_start[a] < timeline.op_start[b]; });
  return order;
}

// One iteration: one op, any one, tried on another device. The base changes every `moves_a_base` moves, off the clock.
void run_incremental(benchmark::State& state, std::uint32_t ops, std::uint32_t devices, bool fifo_order) {
  constexpr std::size_t moves_a_base = 1000;
  const auto it = make_case(ops, devices, "");
  std::vector<Placement> placements = it->placements;
  if (fifo_order)
    for (Placement& placement : placements) placement.order = fifo_order_of(it->problem, placement);
  const auto engine = simulate::make_incremental_engine(it->problem);
  struct Move {
    std::uint32_t op;
    std::uint8_t device;
  };
  std::vector<Move> moves(moves_a_base);
  Stream random({.seed = 3, .purpose = Purpose::test, .update = ops, .index = devices});
  std::size_t next = moves_a_base;
  std::size_t base = 0;
  std::clock_t off_the_clock = 0;
  const std::clock_t begin = std::clock();
  for (auto _ : state) {
    if (next == moves_a_base) {
      state.PauseTiming();
      const std::clock_t pause = std::clock();
      const Placement& placement = placements[base++ % rotation];
      engine->set_base(placement);
      for (Move& move : moves) {
        move.op = random.below(ops);
        move.device = static_cast<std::uint8_t>((placement.device[move.op] + 1 + random.below(devices - 1)) % devices);
      }
      next = 0;
      off_the_clock += std::clock() - pause;
      state.ResumeTiming();
    }
    const Move& move = moves[next++];
    benchmark::DoNotOptimize(engine->try_move({&move.op, 1}, move.device));
  }
  const double seconds = static_cast<double>(std::clock() - begin - off_the_clock) / CLOCKS_PER_SEC;
  const auto units = static_cast<double>(it->problem.op_count() + it->problem.edge_count());
  state.counters["ns_per_unit"] = seconds * 1e9 / (units * static_cast<double>(state.iterations()));
}

void add_incremental(std::uint32_t ops, std::uint32_t devices, bool fifo_order) {
  const std::string name = "simulate/incremental/makespan/ops:" + std::to_string(ops) +
                           "/devices:" + std::to_string(devices) + (fifo_order ? "/order:fifo" : "");
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    run_incremental(state, ops, devices, fifo_order);
  })->Unit(benchmark::kMicrosecond);
}

// One iteration: 16 placements.
void run_batch(benchmark::State& state, What what, std::uint32_t ops, std::uint32_t devices, const std::string& variant,
               simulate::BatchKernel kernel) {
  const auto it = make_case(ops, devices, variant);
  Problem problem = it->problem;
  if (what == What::feasible) limit_memory(problem, *it, Schedule::in_order);
  const auto engine = simulate::make_batch_engine(problem, problem.topological, kernel);
  std::vector<const std::uint8_t*> placements;
  for (const Placement& placement : it->placements) placements.push_back(placement.device.data());
  std::vector<Outcome> outcomes(simulate::batch_lanes);
  std::vector<Bytes> peaks(what == What::memory ? simulate::batch_lanes * devices : 0);
  std::size_t next = 0;
  const std::clock_t begin = std::clock();
  for (auto _ : state) {
    engine->evaluate({&placements[next], simulate::batch_lanes}, outcomes, peaks);
    benchmark::DoNotOptimize(outcomes.data());
    next = (next + simulate::batch_lanes) % rotation;
  }
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const auto units = static_cast<double>(problem.op_count() + problem.edge_count()) * simulate::batch_lanes;
  state.counters["ns_per_unit"] = seconds * 1e9 / (units * static_cast<double>(state.iterations()));
}

void add_batch(What what, std::uint32_t ops, std::uint32_t devices, const std::string& extra = "",
               simulate::BatchKernel kernel = simulate::batch_kernels().back()) {
  benchmark::RegisterBenchmark(name_of("batch-in-order", what, ops, devices, extra).c_str(),
                               [=](benchmark::State& state) { run_batch(state, what, ops, devices, extra, kernel); })
      ->Unit(benchmark::kMicrosecond);
}

constexpr What whats[] = {What::makespan, What::memory, What::feasible};
constexpr std::uint32_t sizes[] = {1000, 10000, 100000, 1000000};

void add_all() {
  for (const std::uint32_t ops : sizes)
    for (const std::uint32_t devices : {2U, 4U, 8U, 16U})
      for (const char* placements : {"", "placements:contiguous"})
        for (const What what : whats) {
          add("exact-fifo", what, ops, devices, placements);
          add_batch(what, ops, devices, placements);
        }
  for (const std::uint32_t ops : {1000U, 10000U})
    for (const What what : whats) {
      for (const simulate::BatchKernel kernel : simulate::batch_kernels())
        if (kernel != simulate::batch_kernels().back())
          add_batch(what, ops, 4, "kernel:" + std::string(emplace::simulate::name_of(kernel)), kernel);
      add("exact-fifo", what, ops, 4, "graph:wide");
      for (const std::uint32_t devices : {4U, 5U, 9U}) {
        add("exact-fifo", what, ops, devices, "network:egress");
        add("exact-in-order", what, ops, devices, "network:egress");
        add_batch(what, ops, devices, "network:egress");
      }
    }
  for (const std::uint32_t ops : sizes)
    for (const What what : whats)
      for (const char* engine : {"exact-priority", "exact-in-order"}) add(engine, what, ops, 4);
  for (const std::uint32_t ops : {1000U, 10000U, 100000U})
    for (const bool fifo_order : {false, true}) add_incremental(ops, 4, fifo_order);
  for (const std::uint32_t devices : {2U, 8U, 16U}) add_incremental(10000, devices, false);
  // The reference always computes everything.
  for (const std::uint32_t ops : {1000U, 10000U, 100000U}) add("reference-fifo", What::memory, ops, 4);
}

}  // namespace
}  // namespace emplace

int main(int argc, char** argv) {
  emplace::add_all();
  benchmark::AddCustomContext("batch kernel",
                              std::string(emplace::simulate::name_of(emplace::simulate::batch_kernels().back())));
  return emplace::run_benchmarks(argc, argv, "ns_per_unit");
}
