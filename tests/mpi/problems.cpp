#include <algorithm>
#include <limits>
#include <string>

#include "emplace/problem/builder.hpp"
#include "tests/mpi/cases.hpp"
#include "tests/support/random_order.hpp"

namespace emplace::test {

Problem random_problem(std::uint32_t seed, std::size_t op_count, std::size_t device_count) {
  Stream stream({.seed = seed});
  ProblemBuilder builder("random " + std::to_string(seed));
  // An op has 50 resident bytes on average, so that a device can hold a few ops, but not hundreds.
  for (std::size_t d = 0; d < device_count; ++d)
    builder.add_device({"device:" + std::to_string(d), "cpu", static_cast<Bytes>(op_count) * 45 + 500});
  const ChannelId bus = builder.add_channel({"bus", 1e-9, 1e9, true});
  const ChannelId fast = builder.add_channel({"fast", 0, 1e10, false});
  const auto device = [](std::size_t d) { return DeviceId{d}; };
  for (std::size_t from = 0; from < device_count; ++from)
    for (std::size_t to = 0; to < device_count; ++to) {
      // The last device cannot send to the first, if there are three or more.
      if (from == to || (device_count > 2 && from + 1 == device_count && to == 0)) continue;
      builder.add_route(device(from), device(to),
                        from < to ? std::vector<ChannelId>{bus} : std::vector<ChannelId>{bus, fast});
    }
  for (std::size_t op = 0; op < op_count; ++op) {
    OpSpec spec;
    spec.name = "op:" + std::to_string(op);
    spec.type = "Any";
    for (std::size_t d = 0; d < device_count; ++d) spec.seconds.push_back(1e-9 * (1 + stream.below(9)));
    if (op == 3 && device_count > 2) spec.seconds[1] = std::numeric_limits<double>::quiet_NaN();
    spec.resident = stream.below(100);
    spec.scratch = stream.below(10);
    if (op % 97 < 2) spec.colocate = "group:" + std::to_string(op / 97 % 2);
    builder.add_op(spec);
  }
  for (std::size_t op = 0; op + 1 < op_count; ++op) {
    const auto first = op + 1 + stream.below(static_cast<std::uint32_t>(std::min<std::size_t>(5, op_count - op - 1)));
    std::vector<OpId> consumers{OpId{first}};
    if (first + 1 < op_count && stream.below(2) == 0) consumers.push_back(OpId{first + 1});
    builder.add_tensor(OpId{op}, stream.below(100), consumers);
  }
  return builder.build();
}

Placement random_placement(const Problem& problem, Stream& stream, bool ordered) {
  Placement placement;
  // One device gets all ops, most of them, or its share, so that there are feasible and infeasible placements of every
  // kind.
  const std::uint32_t strays = stream.below(4);
  const auto home = static_cast<std::uint8_t>(stream.below(static_cast<std::uint32_t>(problem.device_count())));
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    placement.device.push_back(stream.below(4) < strays ? static_cast<std::uint8_t>(stream.below(
                                                              static_cast<std::uint32_t>(problem.device_count())))
                                                        : home);
  if (ordered) placement.order = random_order(problem, stream);
  return placement;
}

namespace {

class EchoEvaluator final : public evaluate::DirectEvaluator {
 public:
  std::vector<Outcome> evaluate_now(std::span<const evaluate::EvaluationJob> jobs) override {
    std::vector<Outcome> outcomes;
    for (const evaluate::EvaluationJob& job : jobs) {
      std::uint64_t hash = 0x9E3779B97F4A7C15U + job.problem;
      const auto mix = [&](std::uint64_t value) { hash = (hash ^ value) * 0xD6E8FEB86659FD93U + (hash >> 29); };
      for (const std::uint8_t device : job.placement->device) mix(device);
      for (const std::uint32_t op : job.placement->order) mix(op + 256ULL);
      Outcome outcome;
      outcome.makespan = static_cast<Ticks>(hash);
      mix(1);
      outcome.overflow = static_cast<Bytes>(hash);
      mix(2);
      outcome.subject = static_cast<std::uint32_t>(hash >> 32);
      outcome.why = static_cast<Infeasible>(hash % 5);
      outcome.device = static_cast<std::uint8_t>(hash >> 8);
      outcomes.push_back(outcome);
    }
    return outcomes;
  }
};

}  // namespace

std::unique_ptr<evaluate::Evaluator> make_echo_evaluator(const evaluate::EvaluatorChoice&,
                                                         const evaluate::EvaluatorSetup&) {
  return std::make_unique<EchoEvaluator>();
}

}  // namespace emplace::test
