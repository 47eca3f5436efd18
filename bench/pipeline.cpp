// Exact splits of pipelines: pipeline/METHOD/ops:N, counter seconds = CPU seconds of a call. `dp`: two chains of N / 2
// ops side by side, which have (N / 2 + 1)^2 ideals; `dpl`: the same graph, N + 1 prefixes of its order. Four
// accelerators and a CPU. With /graph:band outputs go to one of the next 256 ops, so that every cut is dear, ops are 50
// times shorter, and the last accelerator is faster or slower by op.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>

#include "bench/table.hpp"
#include "emplace/base/random.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/search/placer.hpp"

namespace emplace {
namespace {

Problem pipeline_graph(std::size_t ops, bool band) {
  constexpr std::size_t accelerators = 4;
  ProblemBuilder builder("pipeline");
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
    const double seconds = (band ? 2e-6 : 1e-4) * (1 + random.below(100));
    OpSpec spec;
    spec.name = "op" + std::to_string(op);
    spec.seconds.assign(accelerators, seconds);
    if (band) spec.seconds.back() *= 0.5 + random.below(4);
    spec.seconds.push_back(10 * seconds);
    builder.add_op(std::move(spec));
  }
  for (std::size_t op = 0; op + 2 < ops; ++op) {
    const std::size_t next =
        band ? 1 + random.below(static_cast<std::uint32_t>(std::min<std::size_t>(256, ops - op - 1))) : 2;
    builder.add_tensor(OpId{op}, 1000 * (1 + random.below(1000)), {OpId{op + next}});
  }
  return builder.build();
}

void run(benchmark::State& state, const std::string& method, std::size_t ops, bool band) {
  const Problem problem = pipeline_graph(ops, band);
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, {Schedule::fifo, Objective::pipeline});
  search::PlacerRequest request;
  request.problem = &problem;
  request.objective = Objective::pipeline;
  request.evaluator = evaluator.get();
  ConfigTable options("bench");
  if (method == "dp") options.set("ideals", {std::int64_t{1000000}, "bench"});
  const std::clock_t begin = std::clock();
  for (auto _ : state) benchmark::DoNotOptimize(search::place_with(method, request, options).outcome.makespan);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  state.counters["seconds"] = seconds / static_cast<double>(state.iterations());
}

void add(const std::string& method, std::size_t ops, bool band = false) {
  const std::string name = "pipeline/" + method + "/ops:" + std::to_string(ops) + (band ? "/graph:band" : "");
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& s) {
    run(s, method, ops, band);
  })->Unit(benchmark::kMillisecond);
}

void add_all() {
  for (const std::size_t ops : {100, 200, 400, 800}) add("dp", ops);
  for (const bool band : {false, true})
    for (const std::size_t ops : {1000, 10000, 100000}) add("dpl", ops, band);
}

}  // namespace
}  // namespace emplace

int main(int argc, char** argv) {
  emplace::add_all();
  return emplace::run_benchmarks(argc, argv, "seconds");
}
