// Quick placers on large graphs: search/METHOD/ops:N, counter seconds = CPU seconds of one call, evaluations included.
// Four GPUs and a CPU ten times as slow, one output an op, 1.5 edges an op, inputs from the 256 ops before, with
// /graph:wide from anywhere before. search/bound/ops:N: all lower bounds, of which the linear program has 5 s.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "bench/table.hpp"
#include "emplace/base/random.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"

namespace emplace {
namespace {

Problem random_graph(std::size_t ops, bool wide) {
  constexpr std::size_t gpus = 4;
  ProblemBuilder builder("random graph");
  for (std::size_t d = 0; d < gpus; ++d) builder.add_device({"gpu:" + std::to_string(d), "gpu", Bytes{1} << 40});
  builder.add_device({"cpu:0", "cpu"});
  for (std::size_t a = 0; a <= gpus; ++a)
    for (std::size_t b = 0; b <= gpus; ++b)
      if (a != b)
        builder.add_route(DeviceId{a}, DeviceId{b},
                          {builder.add_channel({std::to_string(a) + ">" + std::to_string(b), 1e-5, 1.2e10})});
  Stream random({.seed = 1, .purpose = Purpose::test, .update = 0, .index = 0});
  std::vector<std::vector<OpId>> consumers(ops);
  for (std::size_t op = 0; op < ops; ++op) {
    OpSpec spec;
    spec.name = "op" + std::to_string(op);
    spec.seconds.assign(gpus, 1e-6 * (1 + random.below(200)));
    spec.seconds.push_back(10 * spec.seconds.front());
    spec.resident = 1000 * random.below(1000);
    builder.add_op(std::move(spec));
    const std::uint32_t inputs = op == 0 ? 0 : 1 + random.below(2);
    for (std::uint32_t i = 0; i < inputs; ++i) {
      const std::size_t before = wide ? op : std::min<std::size_t>(op, 256);
      auto& list = consumers[op - 1 - random.below(static_cast<std::uint32_t>(before))];
      if (list.empty() || list.back() != OpId{op}) list.push_back(OpId{op});
    }
  }
  for (std::size_t op = 0; op < ops; ++op)
    builder.add_tensor(OpId{op}, 1000 * (1 + random.below(1000)), std::move(consumers[op]));
  return builder.build();
}

// The placers that `best` tries first.
std::vector<std::string> quick_methods() {
  const Problem tiny = random_graph(1, false);
  search::PlacerRequest request;
  request.problem = &tiny;
  std::vector<std::string> names;
  for (const search::PlacerEntry& entry : search::placers()) {
    if (entry.role != search::PlacerRole::quick || entry.only_for.value_or(Objective::step) != Objective::step)
      continue;
    if (entry.unfit && !entry.unfit(request).empty()) continue;  // no expert knows these graphs
    names.push_back(entry.name);
  }
  return names;
}

void run(benchmark::State& state, const std::string& method, std::size_t ops, bool wide) {
  const Problem problem = random_graph(ops, wide);
  const Problem* const list[] = {&problem};
  const auto evaluator = evaluate::make_local_evaluator(list, Schedule::fifo);
  search::PlacerRequest request;
  request.problem = &problem;
  request.evaluator = evaluator.get();
  const std::clock_t begin = std::clock();
  for (auto _ : state)
    benchmark::DoNotOptimize(search::place_with(method, request, ConfigTable("bench")).outcome.makespan);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  state.counters["seconds"] = seconds / static_cast<double>(state.iterations());
}

void run_bound(benchmark::State& state, std::size_t ops) {
  const Problem problem = random_graph(ops, false);
  const std::clock_t begin = std::clock();
  for (auto _ : state) benchmark::DoNotOptimize(search::lower_bounds(problem, Objective::step, 5).best().ticks);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  state.counters["seconds"] = seconds / static_cast<double>(state.iterations());
}

void add_all() {
  for (const std::size_t ops : {1000, 10000, 100000})
    benchmark::RegisterBenchmark(("search/bound/ops:" + std::to_string(ops)).c_str(), [=](benchmark::State& s) {
      run_bound(s, ops);
    })->Unit(benchmark::kMillisecond);
  for (const std::string& method : quick_methods())
    for (const bool wide : {false, true})
      for (const std::size_t ops : {1000, 10000, 100000})
        benchmark::RegisterBenchmark(
            ("search/" + method + "/ops:" + std::to_string(ops) + (wide ? "/graph:wide" : "")).c_str(),
            [=](benchmark::State& s) { run(s, method, ops, wide); })
            ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace emplace

int main(int argc, char** argv) {
  emplace::add_all();
  return emplace::run_benchmarks(argc, argv, "seconds");
}
