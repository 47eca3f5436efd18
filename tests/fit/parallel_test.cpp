// Plans that divide layers among devices and run the model several times.
#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "emplace/simulate/engine.hpp"
#include "emplace/source/load_problem.hpp"
#include "fit/fit.hpp"
#include "fit/formation.hpp"
#include "fit/step_chain.hpp"
#include "language/language_graph.hpp"
#include "language/shard.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "tests/fit/gpu_machines.hpp"
#include "tests/fit/tiny_models.hpp"

namespace emplace::fit {
namespace {

using ::testing::HasSubstr;

FitRequest vllm_request(const language::LanguageModel& model, const machine::Machine& machine, Aim aim,
                        std::int64_t sequences = 1) {
  FitRequest request{.model = model,
                     .machine = machine,
                     .file = "tiny",
                     .machine_name = "gpus.toml",
                     .scenario = {.context = 256, .sequences = sequences, .batch = 32},
                     .prompt = 64,
                     .aim = aim,
                     .reserve = 0};
  request.runtime = &find_entry(runtimes(), "vllm", "runtime");
  return request;
}

// A step of the model on one of the machine's accelerators.
Ticks step_on_one(const language::LanguageModel& model, std::int64_t sequences = 1) {
  const Problem problem =
      source::make_problem(language::language_graph(model, {.context = 256, .sequences = sequences}, "m"), gpus(1), {},
                           "m")
          .problem;
  const Placement placement{.device = std::vector<std::uint8_t>(problem.op_count(), 1)};
  return simulate::make_reference_engine(problem, Schedule::fifo)->evaluate(placement).makespan;
}

TEST(Parallel, DividesLayersWhereThatIsFasterThanOneDevice) {
  const auto model = tiny_model();
  // Memory of 10 MB/s is so slow that the links' time is small.
  const auto machine = gpus(2, {.bytes_per_s = 1e7});
  const Fit found = fit(vllm_request(model, machine, Aim::latency));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.parallel.tensor, 2);
  const auto half = *language::shard_of(model, 2);
  const Problem problem =
      source::make_problem(language::language_graph(half, {.context = 256}, "m"), machine, {}, "m").problem;
  const Placement placement{.device = std::vector<std::uint8_t>(problem.op_count(), 1)};
  const Ticks alone = simulate::make_reference_engine(problem, Schedule::fifo)->evaluate(placement).makespan;
  // Five all-reduces of 2 x (1 us + 128 bytes at 1 GB/s), and 1024 bytes of logits (formation_test.cpp).
  EXPECT_EQ(found.plan->ticks, alone + 5 * 2'256'000 + 2'024'000);
  EXPECT_EQ(found.saying.text,
            "vllm serve tiny --tensor-parallel-size 2 --pipeline-parallel-size 1 --max-model-len 256 "
            "--max-num-seqs 1\n");
  ASSERT_EQ(found.alternatives.size(), 2U);
  EXPECT_GT(found.plan->tokens_per_s, *found.alternatives[0].tokens_per_s);
}

TEST(Parallel, KeepsLayersInOrderWhereLinksCostMore) {
  const auto model = tiny_model();
  const auto machine = gpus(2, {.latency_s = 1e-3});
  const Fit found = fit(vllm_request(model, machine, Aim::latency));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.parallel.tensor, 1);
  EXPECT_THAT(found.saying.text, ::testing::Not(HasSubstr("tensor-parallel")));
  EXPECT_TRUE(found.proved);
}

TEST(Parallel, HoldsItsPartOnEachDeviceOfAGroup) {
  const auto model = tiny_model();
  const Fit found = fit(vllm_request(model, gpus(2, {.bytes_per_s = 1e7}), Aim::latency));
  ASSERT_TRUE(found.plan);
  // A half of four matrices of 64 x 64 and three of 64 x 128 in each of two layers, of the embedding and of the output,
  // in F16; five norms of 64 in F32.
  const Bytes weights = 2 * (2 * (4 * 64 * 64 + 3 * 64 * 128) + 2 * 64 * 512) / 2 + 5 * 4 * 64;
  for (const std::size_t d : {1U, 2U}) {
    EXPECT_EQ(found.devices[d].weights, weights);
    EXPECT_EQ(found.devices[d].cache, 2 * 2 * 256 * 64 * 2 / 2) << "two of four heads";
    EXPECT_EQ(found.devices[d].chain_device, found.devices[1].chain_device);
  }
  EXPECT_EQ(found.devices[0].units, 0U);
}

TEST(Parallel, FitsWhereNoDeviceHoldsALayer) {
  auto shape = tiny_architecture(1);
  shape.inner = 4096;
  const auto model = language::make_language_model(shape, "wide");
  // The feed-forward part has 3 x 64 x 4096 x 2 bytes, 1.6 MB; a quarter of it fits on each device.
  const auto machine = gpus(4, {.memory = "1500 kB"});
  const Fit found = fit(vllm_request(model, machine, Aim::latency));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.parallel.tensor, 4);
  EXPECT_FALSE(found.alternatives[0].tokens_per_s);
  for (const DeviceUse& use : found.devices) EXPECT_GE(use.free(), 0) << use.name;
}

TEST(Parallel, RunsTheModelOnEachDeviceForThroughput) {
  const auto model = tiny_model();
  // Layers of equal time, but input and output make a pipeline uneven; with links of 1 ms nothing is divided.
  const auto machine = gpus(4, {.latency_s = 1e-3});
  const Fit found = fit(vllm_request(model, machine, Aim::throughput, 8));
  ASSERT_TRUE(found.plan);
  EXPECT_EQ(found.parallel.tensor, 1);
  EXPECT_EQ(found.parallel.replicas, 4U);
  // Each replica has two sequences and passes both in a step of a device with all layers.
  EXPECT_EQ(found.plan->ticks, step_on_one(model, 2));
  EXPECT_DOUBLE_EQ(found.plan->tokens_per_s, 8 / to_seconds(step_on_one(model, 2)));
  EXPECT_EQ(found.saying.text,
            "vllm serve tiny --pipeline-parallel-size 1 --data-parallel-size 4 --max-model-len 256 "
            "--max-num-seqs 2\n");
  for (std::size_t d = 1; d < 5; ++d) EXPECT_EQ(found.devices[d].weights, found.devices[1].weights);
}

TEST(Parallel, LeavesOutWhatTheUserDoesNotWant) {
  const auto model = tiny_model();
  const auto machine = gpus(2, {.bytes_per_s = 1e7});
  FitRequest request = vllm_request(model, machine, Aim::latency);
  request.layers_in_order = true;
  const Fit found = fit(request);
  EXPECT_EQ(found.parallel.tensor, 1);
  EXPECT_EQ(found.alternatives.size(), 1U);
}

// All divisions of equal layers among equal groups, all sizes of groups and all numbers of replicas, counted by this
// test: the ring's steps, the stages' loads, the room.
class AllPlans {
 public:
  AllPlans(const FitRequest& request, int count, const GpuMachine& with)
      : request_(request), count_(count), with_(with) {}

  double fastest() {
    for (std::int64_t tensor = 1; tensor <= count_; ++tensor)
      if (const auto part = language::shard_of(request_.model, tensor))
        for (std::int64_t replicas = 1; replicas * tensor <= count_; ++replicas)
          if (replicas == 1 || (request_.aim == Aim::throughput && !has_one_more(tensor, replicas)))
            divide(*part, tensor, replicas, count_ / tensor / replicas);
    return best_;
  }

 private:
  // Whether there are more replicas than sequences, or could be one more with as many groups.
  [[nodiscard]] bool has_one_more(std::int64_t tensor, std::int64_t replicas) const {
    const std::int64_t groups = count_ / tensor, sequences = request_.scenario.sequences;
    return replicas > sequences ||
           (replicas < std::min(groups, sequences) && groups / replicas == groups / (replicas + 1));
  }

  void divide(const language::LanguageModel& part, std::int64_t tensor, std::int64_t replicas, std::int64_t groups) {
    language::Scenario scenario = request_.scenario;
    scenario.sequences = (scenario.sequences + replicas - 1) / replicas;
    // The replica with the most sequences; the others have as many or one less.
    const double copies = static_cast<double>(request_.scenario.sequences) / static_cast<double>(scenario.sequences);
    const auto units = units_of_step(language::units_of(part, scenario));
    if (request_.aim == Aim::throughput) scenario.sequences = (scenario.sequences + groups - 1) / groups;
    const auto machine = gpus(static_cast<int>(groups), with_);
    Problem problem = source::make_problem(language::language_graph(part, scenario, "m"), machine, {}, "m").problem;
    for (std::size_t op = 0; op < problem.op_count(); ++op)
      for (std::size_t d = 1; d < problem.device_count(); ++d)
        problem.op_time[op * problem.device_count() + d] += exchanged(problem, op, tensor);
    // The first stage has layers 0 to ends[0] - 1, and so on; stages without layers come last.
    const auto layers = static_cast<std::int64_t>(part.layers.size());
    std::vector<std::int64_t> ends;
    const std::function<void(std::int64_t)> extend = [&](std::int64_t first) {
      if (first == layers) return evaluate(problem, units, ends, copies * static_cast<double>(scenario.sequences));
      if (static_cast<std::int64_t>(ends.size()) == groups) return;
      for (std::int64_t end = first + 1; end <= layers; ++end) {
        ends.push_back(end);
        extend(end);
        ends.pop_back();
      }
    };
    extend(0);
  }

  [[nodiscard]] Ticks exchanged(const Problem& problem, std::size_t op, std::int64_t tensor) const {
    const std::string& name = problem.op_names[op];
    if (tensor == 1 || problem.outputs[op].empty()) return 0;
    const auto bytes = static_cast<double>(problem.tensor_bytes[problem.outputs[op][0]]);
    const auto k = static_cast<double>(tensor);
    if (name == "output") return ticks_of_seconds((k - 1) * (with_.latency_s + bytes / 1e9));
    const bool reduces = name == "token_embd" || name.ends_with("n_residual");
    return reduces ? ticks_of_seconds(2 * (k - 1) * (with_.latency_s + bytes / k / 1e9)) : 0;
  }

  void evaluate(const Problem& problem, const std::vector<Unit>& units, const std::vector<std::int64_t>& ends,
                double sequences) {
    Assignment assignment;
    std::vector<Bytes> bytes(problem.device_count(), 0);
    for (const Unit& unit : units) {
      std::size_t stage = unit.kind == UnitKind::output ? ends.size() - 1 : 0;
      while (unit.layer >= ends[stage]) ++stage;
      assignment.push_back(static_cast<std::uint8_t>(stage + 1));
      bytes[stage + 1] += unit.bytes();
    }
    for (std::size_t d = 1; d < bytes.size(); ++d)
      if (bytes[d] > problem.devices[d].memory) return;
    const auto engine = request_.aim == Aim::latency ? simulate::make_reference_engine(problem, Schedule::fifo)
                                                     : simulate::make_pipeline_engine(problem);
    const Outcome outcome = engine->evaluate(placement_of(problem, units, assignment));
    if (outcome.timed()) best_ = std::max(best_, sequences / to_seconds(outcome.makespan));
  }

  const FitRequest& request_;
  int count_;
  GpuMachine with_;
  double best_ = 0;
};

RC_GTEST_PROP(ParallelLaw, NoPlanOfAnyFormationPassesTheBound, ()) {
  using rc::gen::inRange;
  const auto model = tiny_model(*inRange<std::int64_t>(1, 4), *rc::gen::element<std::int64_t>(0, 4));
  const int count = *inRange(1, 5);
  GpuMachine with;
  with.bytes_per_s = *rc::gen::element(1e7, 1e9, 1e10);
  with.latency_s = *rc::gen::element(1e-7, 1e-5, 1e-3);
  with.memory = std::to_string(*rc::gen::element(250'000, 500'000, 1'000'000, 10'000'000)) + " B";
  const auto machine = gpus(count, with);
  FitRequest request =
      vllm_request(model, machine, *rc::gen::element(Aim::latency, Aim::throughput), *inRange<std::int64_t>(1, 6));
  const Fit found = fit(request);
  if (!found.plan) return;
  const double fastest = AllPlans(request, count, with).fastest();
  RC_ASSERT(found.bound_tokens_per_s > 0);
  RC_ASSERT(found.bound_tokens_per_s * (1 + 1e-9) >= fastest);
  RC_ASSERT(found.bound_tokens_per_s * (1 + 1e-9) >= found.plan->tokens_per_s);
  // What is found needs room for buffers too, which this test does not count.
  if (with.memory == "10000000 B") {
    RC_ASSERT(found.plan->tokens_per_s >= 0.98 * fastest);
  }
}

}  // namespace
}  // namespace emplace::fit
