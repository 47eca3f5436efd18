// Exact splits of pipelines: pipeline/METHOD/ops:N, counter ns_per_pair = CPU ns for each pair of ideals that there is,
// looked at or not. `dp`: two chains of N / 2 ops side by side, which have (N / 2 + 1)^2 ideals; `dpl`: the same graph,
// N + 1 prefixes of its order. Four accelerators and a CPU.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <string>

#include "emplace/base/random.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/search/placer.hpp"
#include "table.hpp"

namespace emplace {
namespace {

Problem two_chains(std::size_t ops) {
  constexpr std::size_t accelerators = 4;
  ProblemBuilder builder("two chains");
  for (std::size_t d = 0; d < accelerators; ++d) builder.add_device({"acc:" + std::to_string(d), "accelerator"});
  builder.add_device({"cpu:0", "cpu"});
  const DeviceId host{accelerators};
  for (std::size_t d = 0; d < accelerators; ++d) {
    const std::string name = "acc:" + std::to_string(d);
    builder.add_route(DeviceId{d}, host, {builder.add_channel({name + " out", 1e-5, 1.2e10})});
    builder.add_route(host, DeviceId{d}, {builder.add_channel({name + " in", 1e-5, 1.2e10})});
  }
  Stream random({.seed = 1, .purpose = Purpose::test, .update = 0, .index = 0});
  for (std::size_t op = 0; op < ops; ++op) {
    const double seconds = 1e-4 * (1 + random.below(100));
    OpSpec spec;
    spec.name = "op" + std::to_string(op);
    spec.seconds.assign(accelerators, seconds);
    spec.seconds.push_back(10 * seconds);
    builder.add_op(std::move(spec));
  }
  for (std::size_t op = 0; op + 2 < ops; ++op)
    builder.add_tensor(OpId{op}, 1000 * (1 + random.below(1000)), {OpId{op + 2}});
  return builder.build();
}

void run(benchmark::State& state, const std::string& method, std::size_t ops, double pairs) {
  const Problem problem = two_chains(ops);
  const Problem* const list[] = {&problem};
  const auto evaluator = make_local_evaluator(list, {Schedule::fifo, Objective::pipeline});
  PlacerRequest request;
  request.problem = &problem;
  request.objective = Objective::pipeline;
  request.evaluator = evaluator.get();
  ConfigTable options("bench");
  if (method == "dp") options.set("ideals", {std::int64_t{1000000}, "bench"});
  const std::clock_t begin = std::clock();
  for (auto _ : state) benchmark::DoNotOptimize(place_with(method, request, options).outcome.makespan);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  state.counters["ns_per_pair"] = seconds * 1e9 / (pairs * static_cast<double>(state.iterations()));
}

void add(const std::string& method, std::size_t ops, double pairs) {
  benchmark::RegisterBenchmark(("pipeline/" + method + "/ops:" + std::to_string(ops)).c_str(),
                               [=](benchmark::State& s) { run(s, method, ops, pairs); })
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  for (const std::size_t ops : {100, 200, 400}) {
    // In each chain the larger ideal ends where or after the smaller one does.
    const double one_chain = static_cast<double>((ops / 2 + 1) * (ops / 2 + 2) / 2);
    add("dp", ops, one_chain * one_chain);
  }
  for (const std::size_t ops : {1000, 10000, 30000})
    add("dpl", ops, static_cast<double>(ops + 1) * static_cast<double>(ops + 2) / 2);
}

}  // namespace
}  // namespace emplace

int main(int argc, char** argv) {
  emplace::add_all();
  return emplace::run_benchmarks(argc, argv, "ns_per_pair");
}
