#include "doctor/problem_inputs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "emplace/base/error.hpp"
#include "emplace/problem/builder.hpp"

namespace emplace::doctor {

namespace {

constexpr std::size_t nowhere = std::numeric_limits<std::size_t>::max();

// What is changed in a problem; all else stays the same.
struct Change {
  std::size_t slower_device = nowhere;    // its ops take twice as long
  std::size_t smaller_device = nowhere;   // half of its memory
  std::size_t later_channel = nowhere;    // twice its latency, or 1 us if it has none
  std::size_t thinner_channel = nowhere;  // half of its bandwidth
  Bytes tensor_factor = 1, resident_factor = 1, scratch_factor = 1;
};

// The product, or the largest Bytes if it overflows, which the builder refuses.
Bytes times(Bytes bytes, Bytes factor) {
  constexpr Bytes most = std::numeric_limits<Bytes>::max();
  return bytes > most / factor ? most : bytes * factor;
}

Problem changed(const Problem& problem, const Change& change) {
  ProblemBuilder builder(problem.name);
  for (std::size_t d = 0; d < problem.device_count(); ++d) {
    Device device = problem.devices[d];
    if (d == change.smaller_device) device.memory /= 2;
    builder.add_device(std::move(device));
  }
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    Channel channel = problem.channels[c];
    if (c == change.later_channel) channel.latency_s = channel.latency_s > 0 ? 2 * channel.latency_s : 1e-6;
    if (c == change.thinner_channel) channel.bytes_per_s /= 2;
    builder.add_channel(std::move(channel));
  }
  if (problem.given_transfer_times) builder.give_transfer_times(problem.route_classes.size());
  for (std::size_t from = 0; from < problem.device_count(); ++from)
    for (std::size_t to = 0; to < problem.device_count(); ++to) {
      const DeviceId source{from}, destination{to};
      if (from == to || !problem.has_route(source, destination)) continue;
      std::vector<ChannelId> channels;
      for (const std::uint32_t channel : problem.route(source, destination)) channels.emplace_back(channel);
      builder.add_route(source, destination, channels, {},
                        problem.given_transfer_times
                            ? static_cast<std::size_t>(problem.route_class[from * problem.device_count() + to])
                            : 0);
    }
  for (std::size_t i = 0; i < problem.op_count(); ++i) {
    OpSpec op{.name = problem.op_names[i],
              .type = problem.op_types[i],
              .seconds = {},
              .resident = times(problem.resident[i], change.resident_factor),
              .scratch = times(problem.scratch[i], change.scratch_factor),
              .colocate = {},
              .backward = problem.is_backward(OpId{i})};
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      const bool runs = problem.can_run(OpId{i}, DeviceId{d});
      const bool free = problem.zero_cost[i * problem.device_count() + d] != 0;
      const double seconds = free ? 0 : to_seconds(problem.time(OpId{i}, DeviceId{d}));
      op.seconds.push_back(runs ? seconds * (d == change.slower_device ? 2 : 1)
                                : std::numeric_limits<double>::quiet_NaN());
    }
    if (!problem.group[i].is_none()) op.colocate = problem.group_names[problem.group[i].index()];
    builder.add_op(std::move(op));
  }
  for (std::size_t t = 0; t < problem.tensor_count(); ++t) {
    std::vector<OpId> to;
    for (const std::uint32_t consumer : problem.consumers[t]) to.emplace_back(consumer);
    std::vector<double> seconds;
    if (problem.given_transfer_times)
      for (std::size_t c = 0; c < problem.route_classes.size(); ++c)
        seconds.push_back(to_seconds(problem.transfer_time[t * problem.route_classes.size() + c]));
    builder.add_tensor(problem.producer[t], times(problem.tensor_bytes[t], change.tensor_factor), std::move(to), {},
                       seconds);
  }
  return builder.build();
}

}  // namespace

std::vector<ProblemTrial> try_problem_inputs(const Problem& problem,
                                             const std::function<Outcome(const Problem& changed)>& judge,
                                             const std::function<std::string()>& enough) {
  std::optional<Outcome> before;  // not set yet; a valid problem near a limit may be refused when rebuilt, by rounding
  std::vector<ProblemTrial> trials;
  const auto begin = [&](const char* input, const char* change) { trials.push_back({input, change, {}, {}, {}}); };
  const auto look = [&](const std::string& name, const Change& change) {
    ProblemTrial& trial = trials.back();
    std::string why = enough();
    if (why.empty()) try {
        if (!before) before = judge(changed(problem, {}));
        (judge(changed(problem, change)) == *before ? trial.without : trial.with_effect).push_back(name);
        return;
      } catch (const InputError& error) {
        why = error.what();
      }
    trial.not_tried.push_back(name);
    if (trial.reason.empty()) trial.reason = why;
  };
  const auto each_device = [&](std::size_t Change::*which, const auto& wanted) {
    for (std::size_t d = 0; d < problem.device_count(); ++d)
      if (Change change; wanted(d)) change.*which = d, look(problem.devices[d].name, change);
  };
  const auto each_channel = [&](std::size_t Change::*which) {
    for (std::size_t c = 0; c < problem.channels.size(); ++c) {
      Change change;
      change.*which = c;
      look(problem.channels[c].name, change);
    }
  };
  begin("op seconds", "x 2");
  each_device(&Change::slower_device, [](std::size_t) { return true; });
  begin("memory limit", "x 0.5");
  each_device(&Change::smaller_device, [&](std::size_t d) { return problem.devices[d].memory != no_memory_limit; });
  begin("channel latency", "x 2 (1 us where it is 0)");
  each_channel(&Change::later_channel);
  begin("channel bandwidth", "x 0.5");
  each_channel(&Change::thinner_channel);
  for (const auto& [input, factor] :
       {std::pair{"tensor bytes", &Change::tensor_factor}, std::pair{"resident bytes", &Change::resident_factor},
        std::pair{"scratch bytes", &Change::scratch_factor}}) {
    begin(input, "x 2");
    Change change;
    change.*factor = 2;
    look("all", change);
  }
  std::erase_if(trials, [](const ProblemTrial& trial) {
    return trial.with_effect.empty() && trial.without.empty() && trial.not_tried.empty();
  });
  return trials;
}

}  // namespace emplace::doctor
