// The k40xN preset beside the measurements of the Hierarchical Planner's table (Mirhoseini et al. 2018, all columns of
// seconds per training step). Only the columns "CPU only" and "GPU only" are looked at: on one device a step lasts as
// long as its ops together.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <queue>

#include "cost/lower.hpp"
#include "zoo/zoo.hpp"

namespace emplace::cost::published_test {
namespace {

constexpr std::size_t cpu = 0, gpu = 1;

Problem nmt(int layers) {
  const Graph graph =
      zoo::build_zoo_model("nmt?training=true&batch=64&sequence=40&layers=" + std::to_string(layers), "the test");
  const Lowered lowered = lower(graph, machine::load_machine("k40x2"), {}, "nmt");
  EXPECT_TRUE(cost_warnings(lowered).empty()) << ::testing::PrintToString(cost_warnings(lowered));
  return lowered.problem;
}

double seconds_on(const Problem& p, std::size_t device) {
  Ticks sum = 0;
  for (std::size_t op = 0; op < p.op_count(); ++op) sum += p.time(OpId{op}, DeviceId{device});
  return to_seconds(sum);
}

// The order in which one device runs everything by itself: ready ops by (ready time, op id), R1.
std::vector<std::uint32_t> fifo_order(const Problem& p, std::size_t device) {
  std::vector<std::size_t> missing(p.op_count());
  for (std::size_t op = 0; op < p.op_count(); ++op) missing[op] = p.inputs[op].size();
  using Ready = std::pair<Ticks, std::uint32_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (std::uint32_t op = 0; op < p.op_count(); ++op)
    if (missing[op] == 0) ready.emplace(0, op);
  std::vector<std::uint32_t> order;
  Ticks now = 0;
  while (!ready.empty()) {
    const std::uint32_t op = ready.top().second;
    ready.pop();
    order.push_back(op);
    now += p.time(OpId{op}, DeviceId{device});
    for (const std::uint32_t tensor : p.outputs[op])
      for (const std::uint32_t consumer : p.consumers[tensor])
        if (--missing[consumer] == 0) ready.emplace(now, consumer);
  }
  return order;
}

// Most bytes alive at once with every op on one device: resident bytes, and each tensor from its op's start to its last
// consumer's end (R5).
Bytes peak_on(const Problem& p, std::size_t device) {
  Bytes resident = 0, alive = 0, peak = 0;
  for (const Bytes bytes : p.resident) resident += bytes;
  std::vector<std::size_t> waiting(p.tensor_count());
  for (std::size_t t = 0; t < p.tensor_count(); ++t) waiting[t] = p.consumers[t].size();
  for (const std::uint32_t op : fifo_order(p, device)) {
    for (const std::uint32_t t : p.outputs[op]) alive += p.tensor_bytes[t];
    peak = std::max(peak, alive + p.scratch[op]);
    for (const std::uint32_t t : p.inputs[op])
      if (--waiting[t] == 0) alive -= p.tensor_bytes[t];
    for (const std::uint32_t t : p.outputs[op])
      if (waiting[t] == 0) alive -= p.tensor_bytes[t];
  }
  return resident + peak;
}

TEST(PublishedFigures, NmtOnTheCpuAloneIsWithinAQuarterOfTheTable) {
  for (const auto& [layers, published] : {std::pair{2, 6.46}, {4, 10.68}, {8, 11.52}}) {
    const double ours = seconds_on(nmt(layers), cpu);
    EXPECT_GT(ours, published / 1.25) << layers << " layers";
    EXPECT_LT(ours, published * 1.25) << layers << " layers";
  }
}

// The table has OOM for 2 and 4 layers too; there our peaks under fifo are 6.4 and 7.7 GiB of 12.
TEST(PublishedFigures, EightLayerNmtDoesNotFitOnOneK40AsInTheTable) {
  const Problem p = nmt(8);
  EXPECT_GT(peak_on(p, gpu), p.devices[gpu].memory);
  EXPECT_LT(peak_on(p, cpu), p.devices[cpu].memory);
}

TEST(PublishedFigures, InceptionOnOneK40FitsAndIsOfThePublishedOrderOfMagnitude) {
  const Graph graph = zoo::build_zoo_model("inception-v3?training=true&batch=32", "the test");
  const Lowered lowered = lower(graph, machine::load_machine("k40x1"), {}, "inception-v3");
  EXPECT_LT(peak_on(lowered.problem, gpu), lowered.problem.devices[gpu].memory);
  // Published: 0.15 s on the GPU, 0.61 s on the CPU.
  const double on_gpu = seconds_on(lowered.problem, gpu);
  const double on_cpu = seconds_on(lowered.problem, cpu);
  EXPECT_GT(on_gpu, 0.15 / 5);
  EXPECT_LT(on_gpu, 0.15 * 5);
  EXPECT_NEAR(on_cpu / on_gpu, 0.61 / 0.15, 1.0);
  // The error cannot be smaller, because no K40 does this step's arithmetic in 0.15 s.
  EXPECT_GT(lowered.statistics.flops / 4.29e12, 0.15);
}

void expect_no_guess(const std::string& model, const std::string& machine) {
  const Lowered lowered = lower(zoo::build_zoo_model(model, "the test"), machine::load_machine(machine), {}, model);
  EXPECT_TRUE(cost_warnings(lowered).empty())
      << model << " on " << machine << ": " << ::testing::PrintToString(cost_warnings(lowered));
  EXPECT_GT(lowered.problem.op_count(), 100u);
}

TEST(PublishedFigures, EveryZooModelLowersWithoutGuesses) {
  for (const zoo::ZooEntry& model : zoo::zoo()) {
    expect_no_guess(model.name + "?batch=2", "k40x2");
    if (model.trains) expect_no_guess(model.name + "?batch=2&training=true", "k40x2");
  }
}

TEST(PublishedFigures, EveryPresetCostsConvolutionsAndRecurrencesWithoutGuesses) {
  for (const machine::MachineEntry& machine : machine::machines())
    for (const char* model : {"inception-v3?batch=2&training=true", "rnnlm?batch=2&training=true"})
      expect_no_guess(model, machine.example);
}

// HSDAG's table: CPU-only 12.8, 16.0, 6.38 ms and GPU-only 12.0, 7.81, 2.77 ms. Only the order is a claim of ours.
TEST(PublishedFigures, OnTheTestbedOfHsdagTheGpuIsFasterThanTheCpuForAllThreeModels) {
  for (const char* model : {"inception-v3?batch=1", "resnet-50?batch=1", "bert-base?batch=1"}) {
    const Problem p =
        lower(zoo::build_zoo_model(model, "the test"), machine::load_machine("i9-flex170"), {}, model).problem;
    EXPECT_LT(seconds_on(p, gpu), seconds_on(p, cpu)) << model;
  }
}

}  // namespace
}  // namespace emplace::cost::published_test
