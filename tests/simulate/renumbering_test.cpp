// Op ids decide ties and nothing else.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "emplace/base/random.hpp"
#include "emplace/problem/builder.hpp"
#include "emplace/simulate/engine.hpp"
#include "tests/support/random_problem.hpp"

namespace emplace::simulate::renumbering_test {
namespace {

using test::placement_of;
using test::RandomPlacement;
using test::RandomProblem;

using Ids = std::vector<std::uint32_t>;

// The same problem with op i as number[i]; devices, channels and tensors keep their ids, and times stay what they are.
Problem renumbered(const Problem& p, const Ids& number) {
  Ids old(number.size());
  for (std::uint32_t op = 0; op < number.size(); ++op) old[number[op]] = op;
  ProblemBuilder builder(p.name);
  for (const Device& device : p.devices) builder.add_device(device);
  for (const Channel& channel : p.channels) builder.add_channel(channel);
  for (std::size_t from = 0; from < p.device_count(); ++from)
    for (std::size_t to = 0; to < p.device_count(); ++to) {
      if (from == to || !p.has_route(DeviceId{from}, DeviceId{to})) continue;
      std::vector<ChannelId> channels;
      for (const std::uint32_t channel : p.route(DeviceId{from}, DeviceId{to})) channels.emplace_back(channel);
      builder.add_route(DeviceId{from}, DeviceId{to}, channels);
    }
  for (const std::uint32_t op : old) {
    OpSpec spec{.name = p.op_names[op], .type = p.op_types[op], .seconds = {}, .colocate = {}};
    for (std::size_t d = 0; d < p.device_count(); ++d)
      spec.seconds.push_back(p.can_run(OpId{op}, DeviceId{d}) ? 1 : std::numeric_limits<double>::quiet_NaN());
    spec.resident = p.resident[op];
    spec.scratch = p.scratch[op];
    if (!p.group[op].is_none()) spec.colocate = p.group_names[p.group[op].index()];
    builder.add_op(std::move(spec));
  }
  for (std::size_t t = 0; t < p.tensor_count(); ++t) {
    std::vector<OpId> to;
    for (const std::uint32_t consumer : p.consumers[t]) to.emplace_back(number[consumer]);
    builder.add_tensor(OpId{number[p.producer[t].index()]}, p.tensor_bytes[t], to);
  }
  Problem result = builder.build();
  for (std::size_t op = 0; op < old.size(); ++op)
    for (std::size_t d = 0; d < p.device_count(); ++d)
      result.op_time[op * p.device_count() + d] = p.op_time[old[op] * p.device_count() + d];
  result.transfer_time = p.transfer_time;
  return result;
}

Placement renumbered(const Placement& placement, const Ids& number) {
  Placement result = placement;
  for (std::size_t op = 0; op < number.size(); ++op) result.device[number[op]] = placement.device[op];
  for (std::uint32_t& op : result.order) op = number[op];
  return result;
}

// All times are different numbers of about 30 bits, so that there are no ties by chance.
void make_times_distinct(Problem& problem, std::uint64_t seed) {
  Stream random{{.seed = seed}};
  const auto draw = [&] { return Ticks{1} + random.below(1U << 30); };
  for (Ticks& time : problem.op_time)
    if (time != cannot_run) time = draw();
  for (Ticks& time : problem.transfer_time) time = draw();
}

// For each op, the time at which it has all its inputs.
std::vector<Ticks> ready_times(const Problem& p, const Placement& placement, const Timeline& timeline) {
  std::map<std::pair<std::uint32_t, std::size_t>, Ticks> arrival;  // of a tensor on a device
  for (const Timeline::Transfer& transfer : timeline.transfers)
    arrival[{transfer.tensor.value, transfer.to.index()}] = transfer.end;
  std::vector<Ticks> ready(p.op_count(), 0);
  for (std::uint32_t op = 0; op < p.op_count(); ++op)
    for (const std::uint32_t tensor : p.inputs[op]) {
      const std::size_t from = p.producer[tensor].index();
      const std::size_t to = placement.device[op];
      ready[op] = std::max(ready[op], placement.device[from] == to ? timeline.op_end[from] : arrival.at({tensor, to}));
    }
  return ready;
}

// A random numbering in which ops that become ready on one device at one moment, as all first ops and the readers of
// one tensor do, keep their order.
Ids numbering(const std::vector<Ticks>& ready, const Placement& placement) {
  Ids number(ready.size());
  std::iota(number.begin(), number.end(), 0U);
  for (std::size_t i = number.size(); i > 1; --i)
    std::swap(number[i - 1], number[*rc::gen::inRange<std::size_t>(0, i)]);
  std::map<std::pair<std::uint8_t, Ticks>, Ids> ties;
  for (std::uint32_t op = 0; op < ready.size(); ++op) ties[{placement.device[op], ready[op]}].push_back(op);
  for (const auto& [when, ops] : ties) {
    Ids numbers;
    for (const std::uint32_t op : ops) numbers.push_back(number[op]);
    std::ranges::sort(numbers);
    for (std::size_t i = 0; i < ops.size(); ++i) number[ops[i]] = numbers[i];
  }
  return number;
}

TEST(Law, RenumberingOpsWithoutTiesChangesNothing) {
  EXPECT_TRUE(rc::check(
      "renumbering", [](const RandomProblem& random, const RandomPlacement& genes, bool distinct, std::uint64_t seed) {
        Problem problem = problem_of(random);
        if (distinct) make_times_distinct(problem, seed);
        const Placement placement = placement_of(problem, genes);
        for (const Schedule schedule : {Schedule::fifo, Schedule::priority, Schedule::in_order}) {
          Usage usage, other_usage;
          Timeline timeline, other_timeline;
          const Outcome outcome =
              make_exact_engine(problem, schedule)->evaluate(placement, {.usage = &usage, .timeline = &timeline});
          const std::vector<Ticks> ready =
              outcome.timed() ? ready_times(problem, placement, timeline) : std::vector<Ticks>(problem.op_count(), 0);
          const Ids number = numbering(ready, placement);
          const Problem other = renumbered(problem, number);
          const Placement moved = renumbered(placement, number);
          for (const bool reference : {false, true}) {
            const auto engine = reference ? make_reference_engine(other, schedule) : make_exact_engine(other, schedule);
            const Outcome again = engine->evaluate(moved, {.usage = &other_usage, .timeline = &other_timeline});
            RC_ASSERT(again.why == outcome.why);
            RC_ASSERT(again.makespan == outcome.makespan);
            RC_ASSERT(again.overflow == outcome.overflow);
            if (!outcome.timed()) continue;
            RC_ASSERT(other_usage.device_peak == usage.device_peak);
            RC_ASSERT(other_usage.device_busy == usage.device_busy);
            RC_ASSERT(other_usage.channel_busy == usage.channel_busy);
            for (std::size_t op = 0; op < number.size(); ++op)
              RC_ASSERT(other_timeline.op_start[number[op]] == timeline.op_start[op]);
          }
        }
      }));
}

TEST(Law, RenumberingTiedOpsDoesMatter) {
  // Without this test the law above would also hold for an engine that ignores ids. On d0 a (1 tick) and b (2 ticks)
  // are ready at 0; d1 runs the reader of b, 4 ticks, over a channel of 1 tick: a first, then 1 + 2 + 1 + 4; b first, 2
  // + 1 + 4.
  ProblemBuilder builder("tied");
  for (const char* name : {"d0", "d1"}) builder.add_device({name, "", no_memory_limit});
  builder.add_route(DeviceId{0}, DeviceId{1}, {builder.add_channel({"wire", 1e-12, 1e24})});
  const auto op = [](const char* name, double ticks) {
    return OpSpec{.name = name, .type = {}, .seconds = {ticks * 1e-12, ticks * 1e-12}, .colocate = {}};
  };
  builder.add_op(op("a", 1));
  const OpId b = builder.add_op(op("b", 2));
  builder.add_tensor(b, 0, {builder.add_op(op("c", 4))});
  const Problem problem = builder.build();
  const Placement placement{{0, 0, 1}, {}};
  const Ids swapped = {1, 0, 2};
  EXPECT_EQ(make_exact_engine(problem, Schedule::fifo)->evaluate(placement).makespan, 8);
  const Problem other = renumbered(problem, swapped);
  EXPECT_EQ(make_exact_engine(other, Schedule::fifo)->evaluate(renumbered(placement, swapped)).makespan, 7);
}

}  // namespace
}  // namespace emplace::simulate::renumbering_test
