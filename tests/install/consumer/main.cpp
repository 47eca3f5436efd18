// Simulates the design page's example through the installed library: 11010341333 ps.
#include <cstdio>

#include "base/version.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/simulate/engine.hpp"

int main() {
  using namespace emplace;
  ProblemBuilder builder("two-device chain");
  const DeviceId cpu = builder.add_device({"cpu:0", "cpu", no_memory_limit});
  const DeviceId gpu = builder.add_device({"gpu:0", "gpu", no_memory_limit});
  builder.add_route(gpu, cpu, {builder.add_channel({"d2h", 1e-5, 1.2e10, true})});
  const OpId a = builder.add_op({"a", "MatMul", {0.010, 0.001}, 0, 0, ""});
  const OpId b = builder.add_op({"b", "Relu", {0.010, 0.020}, 0, 0, ""});
  builder.add_tensor(a, 4096, {b});
  const Problem problem = builder.build();
  const Outcome outcome = simulate::make_exact_engine(problem, Schedule::fifo)->evaluate({{1, 0}, {}});
  std::printf("emplace %s: %lld ps\n", version().c_str(), static_cast<long long>(outcome.makespan));
  return 0;
}
