#include "fit/fit.hpp"

#include <gmock/gmock.h>

#include <memory>

#include "emplace/base/error.hpp"
#include "emplace/simulate/engine.hpp"
#include "emplace/source/load_problem.hpp"
#include "fit/step_chain.hpp"
#include "language/language_graph.hpp"
#include "language/runtime_memory.hpp"
#include "tests/fit/tiny_models.hpp"

namespace emplace::fit {
namespace {

FitRequest request_for(const language::LanguageModel& model, const machine::Machine& machine,
                       const std::string& runtime = "llama.cpp") {
  FitRequest request{.model = model,
                     .machine = machine,
                     .file = "tiny.gguf",
                     .machine_name = "tiny.toml",
                     .scenario = {.context = 256, .batch = 32}};
  request.prompt = 64;
  request.reserve = 0;
  request.runtime = &find_entry(runtimes(), runtime, "runtime");
  return request;
}

TEST(Fit, HoldsWhatIsWorkedOutByHand) {
  const auto model = tiny_model();
  const auto machine = tiny_machine("1 GB");
  const Fit found = fit(request_for(model, machine));
  ASSERT_TRUE(found.plan);
  // Everything but the embedding is on the accelerator. Of a layer: matrices of 64 x 64 for queries, keys, values and
  // outputs, three of 64 x 128, in F16; two norms of 64 in F32. The output: a norm, and 64 x 512 in F16.
  const Bytes layer = 2 * (4 * 64 * 64 + 3 * 64 * 128) + 4 * 2 * 64, output = 4 * 64 + 2 * 64 * 512;
  EXPECT_EQ(found.devices[1].weights, 2 * layer + output);
  // Keys and values of 256 tokens, 64 values each of two bytes, in two layers.
  EXPECT_EQ(found.devices[1].cache, 2 * 2 * 256 * 64 * 2);
  EXPECT_EQ(found.devices[0].weights, 2 * 64 * 512);
  EXPECT_EQ(found.devices[0].cache, 0);
  EXPECT_EQ(found.devices[1].memory - found.devices[1].free(),
            found.devices[1].weights + found.devices[1].cache + found.devices[1].buffers);
  EXPECT_EQ(found.saying.text, "llama-server -m tiny.gguf -c 256 -np 1 -ub 32 -ngl 3\n");
  EXPECT_TRUE(found.proved);
}

TEST(Fit, MovesToTheHostWhatCostsLeastThere) {
  const auto model = tiny_model(2, 8);
  const auto everything = fit(request_for(model, tiny_machine("1 GB")));
  ASSERT_TRUE(everything.plan);
  const Bytes all = everything.devices[1].used();
  // 40 kB less than all: the attention of two layers (33 kB and their cache each) would do, or the experts of one (98
  // kB), of which a token reads a quarter only, without a cache.
  const auto machine = tiny_machine(std::to_string(all - 40'000) + " B");
  const Fit found = fit(request_for(model, machine));
  ASSERT_TRUE(found.plan);
  std::vector<std::string> on_host;
  for (std::size_t u = 0; u < found.chain.size(); ++u)
    if (found.plan->assignment[u] == 0) on_host.push_back(found.chain.units[u].name);
  EXPECT_THAT(on_host, ::testing::ElementsAre("input", ::testing::MatchesRegex("blk\\.[01]\\.experts")));
  for (const GreedyResult& greedy : found.greedy) {
    ASSERT_TRUE(greedy.plan);
    EXPECT_LT(greedy.plan->tokens_per_s, found.plan->tokens_per_s) << greedy.name;
  }
}

TEST(Fit, SaysWhatTheSimulationOfTheSamePlacementSays) {
  for (const std::int64_t experts : {0, 8})
    for (const char* memory : {"1 GB", "300 kB", "200 kB"}) {
      const auto model = tiny_model(3, experts);
      const auto machine = tiny_machine(memory);
      FitRequest request = request_for(model, machine);
      request.scenario.sequences = 2;
      const Fit found = fit(request);
      ASSERT_TRUE(found.plan);
      language::Scenario step = request.scenario;
      const Problem problem =
          source::make_problem(language::language_graph(model, step, "m"), machine, {}, "m").problem;
      const Outcome outcome = simulate::make_reference_engine(problem, Schedule::fifo)->evaluate(found.plan->placement);
      EXPECT_TRUE(outcome.feasible());
      EXPECT_EQ(outcome.makespan, found.plan->ticks);
      EXPECT_DOUBLE_EQ(found.plan->tokens_per_s, 2 / to_seconds(outcome.makespan));
      EXPECT_GE(found.bound_tokens_per_s, found.plan->tokens_per_s);
    }
}

TEST(Fit, BoundsTheSimulatedStepOfEveryAssignment) {
  const auto model = tiny_model(2, 8);
  const auto machine = tiny_machine("1 GB");
  const Problem problem =
      source::make_problem(language::language_graph(model, {.context = 256}, "m"), machine, {}, "m").problem;
  const StepChain step = chain_of(problem, units_of_step(language::units_of(model, {.context = 256})));
  EXPECT_TRUE(step.is_serial);
  const auto engine = simulate::make_reference_engine(problem, Schedule::fifo);
  ASSERT_EQ(step.chain.size(), 8U);
  for (unsigned bits = 0; bits < 256; ++bits) {
    Assignment assignment;
    for (unsigned u = 0; u < 8; ++u) assignment.push_back((bits >> u) & 1U);
    const Ticks simulated = engine->evaluate(placement_of(problem, step.chain.units, assignment)).makespan;
    EXPECT_LE(latency(step.chain, assignment), simulated);
    EXPECT_LE(static_cast<double>(simulated), 1.3 * static_cast<double>(latency(step.chain, assignment)));
  }
}

TEST(Fit, IsTheSameEachTime) {
  const auto model = tiny_model(4, 8);
  const auto machine = tiny_machine("400 kB");
  const Fit a = fit(request_for(model, machine)), b = fit(request_for(model, machine));
  ASSERT_TRUE(a.plan);
  EXPECT_EQ(a.plan->assignment, b.plan->assignment);
  EXPECT_EQ(a.bound_tokens_per_s, b.bound_tokens_per_s);
}

TEST(Fit, PlansForEveryRuntime) {
  const auto model = tiny_model(4);
  const auto machine = tiny_machine("1 GB");
  for (const RuntimeEntry& runtime : runtimes()) {
    const Fit found = fit(request_for(model, machine, runtime.name));
    ASSERT_TRUE(found.plan) << runtime.name;
    EXPECT_EQ(why_unsayable(runtime.rules, found.chain, found.kinds, found.plan->assignment), "") << runtime.name;
    EXPECT_GE(found.bound_tokens_per_s * (1 + 1e-9), found.plan->tokens_per_s) << runtime.name;
    EXPECT_FALSE(found.saying.text.empty()) << runtime.name;
  }
}

TEST(Fit, CountsTheBusiestDeviceForThroughput) {
  const auto model = tiny_model(4);
  const auto machine = tiny_machine("1 GB");
  FitRequest request = request_for(model, machine, "json");
  request.aim = Aim::throughput;
  const Fit found = fit(request);
  ASSERT_TRUE(found.plan);
  EXPECT_GE(found.bound_tokens_per_s, found.plan->tokens_per_s);
  for (const GreedyResult& greedy : found.greedy) EXPECT_GE(found.plan->tokens_per_s, greedy.plan->tokens_per_s);
}

TEST(Fit, SaysWhatIsMissingAndWhichContextFits) {
  const auto model = tiny_model(2);
  const auto machine = machine::parse_machine(R"(
name = "small"
[[device]]
name = "gpu"
kind = "gpu"
memory = "600 kB"
memory_bytes_per_s = 1e9
launch_overhead_s = 0
peak_flops = { default = 1e15 }
efficiency = { default = 1 }
)",
                                              "small.toml");
  FitRequest request = request_for(model, machine);
  request.scenario.context = 1 << 20;
  const Fit found = fit(request);
  EXPECT_FALSE(found.plan);
  // 2^20 tokens x 2 layers x keys and values of 64 numbers of two bytes, more than everything else.
  EXPECT_GT(found.least, Bytes{1} << 29);
  EXPECT_EQ(found.available, 600'000);
  const std::int64_t longest = longest_context(request);
  EXPECT_GT(longest, 0);
  EXPECT_LT(longest, 2048);
  request.scenario.context = longest;
  EXPECT_TRUE(fit(request).plan);
}

TEST(Fit, RefusesPromptsBeyondTheContext) {
  const auto model = tiny_model();
  const auto machine = tiny_machine("1 GB");
  FitRequest request = request_for(model, machine);
  request.prompt = 257;
  EXPECT_THROW(fit(request), InputError);
}

}  // namespace
}  // namespace emplace::fit
