// Training steps of networks on one core: nn/WORKLOAD, counter ms_per_step = CPU ms of forward, loss with entropy,
// backward and Adam. 8 inputs rotate. nn/gemm/MxKxN: products, with the peak of multiply-adds; nn/segment-max: bytes
// read and written per second, with the speed of copying as many.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "bench/nn_peak.hpp"
#include "bench/table.hpp"
#include "emplace/base/random.hpp"
#include "nn/kernels/kernel_set.hpp"
#include "nn/layers/ops.hpp"
#include "nn/tape/optimizer.hpp"

namespace emplace::nn {
namespace {

constexpr std::size_t inputs = 8;

std::vector<float> random_values(std::size_t count, std::uint32_t index) {
  Stream random({.seed = 1, .purpose = Purpose::test, .update = 0, .index = index});
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(2 * random.uniform() - 1);
  return values;
}

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// What all workloads share: parameters, their gradient and the optimiser; inputs, actions and coefficients.
struct Training {
  ParameterLayout layout;
  std::vector<float> values, gradient;
  Optimizer optimizer{OptimizerOptions{}};
  Tape<float> tape;
  std::vector<std::vector<float>> features;
  std::vector<std::uint8_t> actions;
  std::vector<double> coefficients;

  void start(std::size_t feature_count, std::size_t rows, std::uint32_t choices) {
    values.resize(layout.size());
    gradient.resize(layout.size());
    layout.initialize<float>(values, 1);
    for (std::uint32_t i = 0; i < inputs; ++i) features.push_back(random_values(feature_count, i));
    Stream random({.seed = 1, .purpose = Purpose::test, .update = 1, .index = 0});
    for (std::size_t r = 0; r < rows; ++r) {
      actions.push_back(static_cast<std::uint8_t>(random.below(choices)));
      coefficients.push_back(random.uniform() - 0.5);
    }
  }
  Var parameter(const Slice& slice) { return tape.parameter(slice); }

  // forward(features) gives the logits.
  template <class F>
  void run(benchmark::State& state, F forward) {
    const auto step = [&](std::size_t i) {
      std::ranges::fill(gradient, 0.0F);
      tape.begin(values, gradient);
      const auto rows = categorical(tape, forward(features[i % inputs]), {});
      seed<float>(tape, rows, actions, coefficients, -0.01);
      tape.backward();
      optimizer.step(values, gradient);
    };
    step(0);
    step(1);
    std::size_t i = 0;
    const double begin = cpu_seconds();
    for (auto _ : state) step(i++);
    state.counters["ms_per_step"] = 1e3 * (cpu_seconds() - begin) / static_cast<double>(state.iterations());
  }
};

void mlp(benchmark::State& state) {
  constexpr std::size_t rows = 1000, in = 300, hidden = 64, out = 256;
  Training t;
  const Slice w1 = t.layout.add("w1", in, hidden, glorot_uniform()), b1 = t.layout.add("b1", 1, hidden, zeros);
  const Slice w2 = t.layout.add("w2", hidden, out, glorot_uniform()), b2 = t.layout.add("b2", 1, out, zeros);
  t.start(rows * in, rows, out);
  t.run(state, [&](const std::vector<float>& features) {
    const Var x = t.tape.constant({features.data(), rows, in});
    const Var h = linear(t.tape, x, t.parameter(w1), t.parameter(b1), Activation::relu);
    return linear(t.tape, h, t.parameter(w2), t.parameter(b2), Activation::none);
  });
}

// An encoder over 256 steps, and a decoder over 256 steps whose samples share the encoding; every width is 256, 8
// devices.
void seq2seq(benchmark::State& state, std::size_t batch, bool feeding) {
  constexpr std::size_t steps = 256, width = 256, devices = 8;
  Training t;
  const auto add = [&](const char* name, std::size_t rows, std::size_t columns) {
    return t.layout.add(name, rows, columns, uniform(0.08));
  };
  const Slice encoder = add("encoder", 2 * width, 4 * width), encoder_bias = add("encoder_bias", 1, 4 * width);
  const Slice decoder = add("decoder", (feeding ? 3 : 2) * width, 4 * width);
  const Slice decoder_bias = add("decoder_bias", 1, 4 * width), beta = add("beta", 1, 1);
  const Slice key_weight = add("key_weight", width, width), query_weight = add("query_weight", width, width);
  const Slice v = add("v", width, 1), out = add("out", 2 * width, devices);
  t.start(steps * (1 + batch) * width, steps * batch, devices);
  const std::vector<std::uint32_t> copies(batch, 0);
  t.run(state, [&](const std::vector<float>& features) {
    Tape<float>& tape = t.tape;
    const auto parameter = [&](const Slice& slice) { return t.parameter(slice); };
    const LstmResult memory = lstm(tape,
                                   {.input = tape.constant({features.data(), steps, width}),
                                    .weight = parameter(encoder),
                                    .bias = parameter(encoder_bias),
                                    .forget_bias = parameter(beta),
                                    .hidden = {},
                                    .cell = {}},
                                   {});
    const Var keys = matmul(tape, memory.hidden, parameter(key_weight));
    const LstmVars vars{.input = tape.constant({features.data() + steps * width, steps * batch, width}),
                        .weight = parameter(decoder),
                        .bias = parameter(decoder_bias),
                        .forget_bias = parameter(beta),
                        .hidden = gather_rows(tape, memory.last_hidden, copies),
                        .cell = gather_rows(tape, memory.last_cell, copies)};
    Var parts[2];
    if (feeding) {
      const FeedingResult r =
          feeding_decoder(tape, vars, parameter(query_weight), keys, memory.hidden, parameter(v), {.batch = batch});
      parts[0] = r.hidden, parts[1] = r.context;
    } else {
      parts[0] = lstm(tape, vars, {.batch = batch}).hidden;
      parts[1] = attention(tape, matmul(tape, parts[0], parameter(query_weight)), keys, memory.hidden, parameter(v));
    }
    return matmul(tape, concat_columns(tape, std::span<const Var>(parts)), parameter(out));
  });
}

// Lists of 3 rows on average, from the 256 before and after; `train` adds the backward pass.
void segments(benchmark::State& state, bool train) {
  constexpr std::size_t nodes = 10000, width = 128;
  Stream random({.seed = 1, .purpose = Purpose::test, .update = 2, .index = 0});
  Lists lists;
  for (std::size_t node = 0; node < nodes; ++node) {
    for (std::uint32_t i = random.below(7); i > 0; --i)
      lists.items.push_back(static_cast<std::uint32_t>((node + nodes - 256 + random.below(512)) % nodes));
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  std::vector<std::vector<float>> features;
  for (std::uint32_t i = 0; i < inputs; ++i) features.push_back(random_values(nodes * width, i));
  std::vector<float> gradient(nodes * width);
  Tape<float> tape;
  std::size_t i = 0;
  const auto step = [&] {
    tape.begin(features[i++ % inputs], train ? std::span<float>(gradient) : std::span<float>());
    const Var y = segment_max(tape, tape.parameter({0, nodes, width}), lists);
    if (!train) return;
    tape.gradient(y);
    tape.backward();
  };
  step();
  step();
  const double begin = cpu_seconds();
  for (auto _ : state) step();
  const double seconds = (cpu_seconds() - begin) / static_cast<double>(state.iterations());
  state.counters["ms_per_step"] = 1e3 * seconds;
  if (train) return;
  // Every listed row is read, every result written. A copy of n bytes reads n and writes n.
  const double bytes = 4.0 * width * static_cast<double>(lists.items.size() + nodes);
  const double copy = copy_bytes_per_s(features, 4 * nodes * width);
  state.counters["GB/s"] = bytes / seconds / 1e9;
  state.counters["copy_GB/s"] = copy / 1e9;
  state.counters["share"] = bytes / seconds / copy;
}

void gemm(benchmark::State& state, std::size_t m, std::size_t k, std::size_t n) {
  std::vector<std::vector<float>> left;
  for (std::uint32_t i = 0; i < inputs; ++i) left.push_back(random_values(m * k, i));
  const std::vector<float> right = random_values(k * n, inputs);
  Tape<float> tape;
  std::size_t i = 0;
  const auto step = [&] {
    tape.begin(right, {});
    matmul(tape, tape.constant({left[i++ % inputs].data(), m, k}), tape.parameter({0, k, n}));
  };
  step();
  const double begin = cpu_seconds();
  for (auto _ : state) step();
  const double seconds = (cpu_seconds() - begin) / static_cast<double>(state.iterations());
  const double flops = 2.0 * static_cast<double>(m * k * n) / seconds, peak = peak_flops();
  state.counters["GFLOP/s"] = flops / 1e9;
  state.counters["peak_GFLOP/s"] = peak / 1e9;
  state.counters["share"] = flops / peak;
}

void add_all() {
  const auto add = [](const std::string& name, auto run) {
    benchmark::RegisterBenchmark(name.c_str(), run)->Unit(benchmark::kMillisecond);
  };
  add("nn/mlp", mlp);
  add("nn/seq2seq", [](benchmark::State& s) { seq2seq(s, 1, false); });
  add("nn/seq2seq-feeding", [](benchmark::State& s) { seq2seq(s, 1, true); });
  add("nn/seq2seq-batch16", [](benchmark::State& s) { seq2seq(s, 16, false); });
  add("nn/seq2seq-feeding-batch16", [](benchmark::State& s) { seq2seq(s, 16, true); });
  add("nn/segment-max", [](benchmark::State& s) { segments(s, false); });
  add("nn/segment-max-train", [](benchmark::State& s) { segments(s, true); });
  for (const auto& [m, k, n] : {std::array<std::size_t, 3>{1, 256, 1024},
                                {16, 256, 1024},
                                {256, 256, 1024},
                                {4096, 256, 1024},
                                {1000, 300, 64},
                                {1000, 64, 256},
                                {256, 256, 256},
                                {3200, 7, 7}})
    add("nn/gemm/" + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n),
        [=](benchmark::State& s) { gemm(s, m, k, n); });
}

}  // namespace
}  // namespace emplace::nn

int main(int argc, char** argv) {
  using namespace emplace::nn;
  // NN_KERNELS=reference (Eigen), plain, avx2 or avx512: another set than the fastest.
  if (const char* wanted = std::getenv("NN_KERNELS")) {
    const std::vector<KernelSet> sets = kernel_sets();
    const auto set = std::ranges::find(sets, wanted, name_of);
    if (set == sets.end()) {
      std::string names;
      for (const KernelSet each : sets) names += " " + std::string(name_of(each));
      std::fprintf(stderr, "NN_KERNELS is %s; this machine has%s\n", wanted, names.c_str());
      return 2;
    }
    use_kernel_set(*set);
  }
  benchmark::AddCustomContext("kernels", std::string(name_of(kernel_set())));
  add_all();
  return emplace::run_benchmarks(argc, argv, "ms_per_step");
}
