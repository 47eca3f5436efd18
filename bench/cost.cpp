// From a model to a Problem: cost/STEP/ops:N, counter ns_per_op = CPU ns per op of the graph, which should hardly grow
// from 10k ops to 1M. `build`: the training graph of GNMT with a framework's own ops; `lower`: passes and costs on a
// machine with four GPUs.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <ctime>
#include <string>

#include "bench/table.hpp"
#include "cost/lower.hpp"
#include "emplace/machine/machine.hpp"
#include "zoo/zoo.hpp"

namespace emplace {
namespace {

// Sentences of this length give about this many ops; graph_ops says how many.
struct Size {
  std::uint32_t ops, sequence;
};
constexpr Size sizes[] = {{10000, 4}, {100000, 52}, {1000000, 520}};

Graph graph_of(const Size& size) {
  return zoo::build_zoo_model("gnmt?layers=8&training=true&detail=framework&sequence=" + std::to_string(size.sequence));
}

void report(benchmark::State& state, std::size_t ops, std::clock_t begin) {
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  state.counters["graph_ops"] = static_cast<double>(ops);
  state.counters["ns_per_op"] = seconds * 1e9 / (static_cast<double>(ops) * static_cast<double>(state.iterations()));
}

void run_build(benchmark::State& state, const Size& size) {
  std::size_t ops = 0;
  const std::clock_t begin = std::clock();
  for (auto _ : state) ops = graph_of(size).ops.size();
  report(state, ops, begin);
}

void run_lower(benchmark::State& state, const Size& size) {
  const Graph graph = graph_of(size);
  const machine::Machine machine = machine::load_machine("k40x4");
  const std::clock_t begin = std::clock();
  for (auto _ : state) benchmark::DoNotOptimize(cost::lower(graph, machine, {}, "bench").problem.op_count());
  report(state, graph.ops.size(), begin);
}

void add_all() {
  for (const Size& size : sizes) {
    const std::string ops = "/ops:" + std::to_string(size.ops);
    benchmark::RegisterBenchmark(("cost/build" + ops).c_str(), [&size](benchmark::State& s) {
      run_build(s, size);
    })->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("cost/lower" + ops).c_str(), [&size](benchmark::State& s) {
      run_lower(s, size);
    })->Unit(benchmark::kMillisecond);
  }
}

}  // namespace
}  // namespace emplace

int main(int argc, char** argv) {
  emplace::add_all();
  return emplace::run_benchmarks(argc, argv, "ns_per_op");
}
