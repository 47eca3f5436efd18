// Training steps of policies with a graph network on one core: policy/NAME/ops:N, counter ms_per_step = CPU ms of
// forward, loss with entropy, backward and Adam for 16 placements of one graph (hsdag: one). Graphs rotate, and
// parameters change from step to step.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "bench/table.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/problem/builder.hpp"
#include "nn/kernels/kernel_set.hpp"
#include "nn/tape/optimizer.hpp"

namespace emplace {
namespace {

// One output an op and about `degree` inputs, from the 64 ops before; 20 types, two devices.
Problem random_problem(std::uint32_t ops, double degree, std::uint32_t number) {
  Stream random({.seed = 1, .purpose = Purpose::test, .update = ops, .index = number});
  ProblemBuilder builder("random");
  for (const char* name : {"gpu:0", "gpu:1"}) builder.add_device({name, "gpu", no_memory_limit});
  for (const auto& [from, to] : {std::pair(0U, 1U), std::pair(1U, 0U)})
    builder.add_route(DeviceId{from}, DeviceId{to}, {builder.add_channel({std::to_string(from), 1e-6, 1e10, true})});
  std::vector<std::vector<OpId>> consumers(ops);
  for (std::uint32_t op = 0; op < ops; ++op) {
    const double seconds = 1e-6 * (1 + 100 * random.uniform());
    builder.add_op({.name = std::to_string(op),
                    .type = std::to_string(random.below(20)),
                    .seconds = {seconds, seconds},
                    .resident = 0,
                    .scratch = 0,
                    .colocate = {}});
    for (double left = degree; op > 0 && left > 0; left -= 1) {
      std::vector<OpId>& to = consumers[op - 1 - random.below(std::min(op, 64U))];
      if (random.uniform() < left && (to.empty() || to.back() != OpId{op})) to.push_back(OpId{op});
    }
  }
  for (std::uint32_t op = 0; op < ops; ++op) builder.add_tensor(OpId{op}, 4096, std::move(consumers[op]));
  return builder.build();
}

struct Workload {
  const char* name;
  const char* policy;
  const char* options;
  double degree;  // edges an op
  std::size_t samples;
};

constexpr Workload workloads[] = {
    // The network of the speed figure, without gates and with them.
    {"gdp-plain", "gdp", "graph_layers = 3\nplacer_layers = 2\nsuperposition = \"none\"", 1.5, 16},
    {"gdp", "gdp", "graph_layers = 3\nplacer_layers = 2", 1.5, 16},
    // One round of an episode; its graphs are nearly chains.
    {"hsdag", "hsdag", "update_timestep = 1", 1.05, 1},
    {"hsdag-gat", "hsdag", "update_timestep = 1\nencoder = \"gat\"", 1.05, 1},
    {"hsdag-gin", "hsdag", "update_timestep = 1\nencoder = \"gin\"", 1.05, 1},
};

void train(benchmark::State& state, const Workload& workload, std::uint32_t ops) {
  const std::size_t graphs = ops > 10000 ? 2 : 8;
  std::vector<Problem> problems;
  for (std::uint32_t g = 0; g < graphs; ++g) problems.push_back(random_problem(ops, workload.degree, g));
  std::vector<policy::PolicyProblem> list;
  for (const Problem& problem : problems) list.emplace_back(&problem, make_grouping(problem, GroupingKind::op));
  const auto policy =
      policy::make_policy(workload.policy, ConfigTable::parse_toml(workload.options, workload.name), list, 1);
  std::vector<std::vector<policy::Rollout>> batches(graphs);
  for (std::uint32_t g = 0; g < graphs; ++g) {
    const auto rounds = static_cast<std::uint32_t>(policy->rounds(g));
    for (std::uint32_t s = 0; s < workload.samples; ++s) {
      Stream stream({.seed = 1, .purpose = Purpose::sample_placement, .update = 1, .index = s});
      std::vector<policy::Rollout> sample(rounds);
      for (std::uint32_t r = 0; r < rounds; ++r) {
        sample[r].update = 1;
        sample[r].problem = g;
        sample[r].sample = s;
        sample[r].round = r;
        const policy::SampleSlot draw{&stream, std::span(sample).first(r + 1)};
        policy->sample({&draw, 1});
      }
      std::ranges::move(sample, std::back_inserter(batches[g]));
    }
  }
  nn::Optimizer optimizer{nn::OptimizerOptions{.learning_rate = 1e-4}};
  policy::LogProbabilities log;
  std::vector<double> coefficients;
  const auto step = [&](std::size_t i) {
    const std::vector<policy::Rollout>& batch = batches[i % graphs];
    std::ranges::fill(policy->gradient(), 0.0F);
    policy->forward(batch, log);
    coefficients.resize(log.value.size());
    for (std::size_t h = 0; h < coefficients.size(); ++h) coefficients[h] = h % 2 == 0 ? 0.01 : -0.01;
    policy->backward(batch, coefficients, 0.01);
    optimizer.step(policy->parameters(), policy->gradient());
  };
  step(0);
  step(1);
  std::size_t i = 0;
  const auto begin = std::clock();
  for (auto _ : state) step(i++);
  state.counters["ms_per_step"] =
      1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC / static_cast<double>(state.iterations());
}

}  // namespace
}  // namespace emplace

int main(int argc, char** argv) {
  using namespace emplace;
  benchmark::AddCustomContext("kernels", std::string(nn::name_of(nn::kernel_set())));
  for (const Workload& workload : workloads)
    for (const std::uint32_t ops : {1000U, 10000U, 50000U})
      benchmark::RegisterBenchmark(("policy/" + std::string(workload.name) + "/ops:" + std::to_string(ops)).c_str(),
                                   [=](benchmark::State& state) { train(state, workload, ops); })
          ->Unit(benchmark::kMillisecond);
  return run_benchmarks(argc, argv, "ms_per_step");
}
