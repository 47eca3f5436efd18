// Builds a problem of two ops on two devices, simulates a placement, and prints when each op runs.
// Usage: simulate_a_placement
#include <cstdio>
#include <emplace/emplace.hpp>

int main() {
  using namespace emplace;
  ProblemBuilder builder("chain");
  const DeviceId cpu = builder.add_device({"cpu:0", "cpu"});
  const DeviceId gpu = builder.add_device({"gpu:0", "gpu", Bytes{1} << 30});  // 1 GiB of memory
  // A transfer takes the channel's latency and its bytes over the bandwidth.
  const ChannelId pcie = builder.add_channel({"pcie", 1e-5, 1.2e10});
  builder.add_route(gpu, cpu, {pcie});
  builder.add_route(cpu, gpu, {pcie});
  const OpId matmul = builder.add_op({"matmul", "MatMul", {0.010, 0.001}});  // seconds per device
  const OpId relu = builder.add_op({"relu", "Relu", {0.010, 0.020}});
  builder.add_tensor(matmul, 4096, {relu});  // 4096 bytes from matmul to relu
  const Problem problem = builder.build();

  Placement placement;
  placement.device = {1, 0};  // matmul on gpu:0, relu on cpu:0
  simulate::Timeline timeline;
  Usage usage;
  const auto engine = simulate::make_exact_engine(problem, Schedule::fifo);
  const Outcome outcome = engine->evaluate(placement, {.usage = &usage, .timeline = &timeline});
  if (!outcome.feasible()) {
    std::printf("infeasible: %s\n", reason_text(problem, outcome, placement.device, usage).c_str());
    return static_cast<int>(ExitCode::infeasible);
  }
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    std::printf("%-6s on %s from %.6f s to %.6f s\n", problem.op_names[op].c_str(),
                problem.devices[placement.device[op]].name.c_str(), to_seconds(timeline.op_start[op]),
                to_seconds(timeline.op_end[op]));
  std::printf("step %lld ps\n", static_cast<long long>(outcome.makespan));
}
