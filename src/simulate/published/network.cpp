#include "simulate/published/network.hpp"

#include <algorithm>
#include <tuple>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"

namespace emplace::simulate::published {

namespace {

__extension__ typedef __int128 Wide;

// Makes lists from pairs (row, item) that are sorted by row.
Lists lists_of(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs, std::size_t rows) {
  Lists lists;
  lists.begin.assign(rows + 1, 0);
  for (const auto& [row, item] : pairs) {
    ++lists.begin[row + 1];
    lists.items.push_back(item);
  }
  for (std::size_t row = 0; row < rows; ++row) lists.begin[row + 1] += lists.begin[row];
  return lists;
}

// One factor per op, the same in every evaluation and for every placement.
double noise_factor(const Switches& switches, std::size_t op) {
  Stream random{{.seed = switches.noise_seed,
                 .purpose = Purpose::simulator_noise,
                 .update = 0,
                 .index = static_cast<std::uint32_t>(op)}};
  if (switches.noise == Noise::uniform) return 1 + switches.noise_level * (2 * random.uniform() - 1);
  return std::max(0.0, 1 + switches.noise_level * random.normal());
}

struct Clock {
  bool instant_zeros;

  [[nodiscard]] Ticks ticks(double seconds) const {
    if (!(seconds <= static_cast<double>(total_limit) / ticks_per_second))
      throw InputError({}, "the simulator gives an op or a transfer {:.3g} s, more than 2^62 ps", seconds);
    return instant_zeros && seconds == 0 ? 0 : ticks_of_seconds(seconds);
  }
};

}  // namespace

SwitchedProblem::SwitchedProblem(const Problem& given, const Switches& switches)
    : problem(given), devices(given.device_count()) {
  const auto is_accelerator = [](const Device& device) { return device.kind != "cpu"; };
  std::ranges::transform(problem.devices, std::back_inserter(accelerator), is_accelerator);
  if (switches.dispatch_s > 0) dispatch = Clock{false}.ticks(switches.dispatch_s);
  streams = switches.streams;
  set_op_times(switches);
  set_edges(switches);
  set_lanes(switches);
  set_transfers(switches);
  check_totals(switches);
}

void SwitchedProblem::set_op_times(const Switches& switches) {
  const Clock clock{switches.instant_zeros};
  const Ticks gap = switches.gap_s > 0 ? clock.ticks(switches.gap_s) : 0;
  op_time = problem.op_time;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    const double factor = switches.noise == Noise::none ? 1 : noise_factor(switches, op);
    for (std::size_t i = op * devices; i < (op + 1) * devices; ++i) {
      const bool zero = problem.zero_cost[i] != 0;
      if (op_time[i] != cannot_run) {
        if (switches.noise != Noise::none && !zero) op_time[i] = clock.ticks(to_seconds(op_time[i]) * factor);
        if (switches.instant_zeros && zero) op_time[i] = 0;
      }
      op_hold.push_back(op_time[i] + (zero && !switches.gap_after_zero_cost ? 0 : gap));
    }
  }
}

void SwitchedProblem::set_edges(const Switches& switches) {
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  constexpr std::uint32_t at_the_end = TensorId::none_value;
  std::vector<Pair> by_tensor, by_op, edges;  // edges of one op: (consumer, tensor), in the order of `tensors`
  inputs.assign(problem.op_count(), 0);
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
    const auto outputs = problem.outputs[op];
    const auto with_bytes = std::ranges::find_if(outputs, [&](std::uint32_t t) { return problem.tensor_bytes[t] > 0; });
    edges.clear();
    for (const std::uint32_t tensor : outputs) {
      std::uint32_t carrier = tensor;
      if (problem.tensor_bytes[tensor] == 0 && switches.control == ControlEdge::none) carrier = at_the_end;
      if (problem.tensor_bytes[tensor] == 0 && switches.control == ControlEdge::full)
        carrier = with_bytes == outputs.end() ? outputs.front() : *with_bytes;
      for (const std::uint32_t consumer : problem.consumers[tensor]) edges.emplace_back(consumer, carrier);
    }
    std::ranges::stable_sort(edges, {}, &Pair::first);
    if (switches.repeated == RepeatedProducer::last) {
      // Keeps only the last edge of each consumer.
      auto kept = edges.begin();
      for (std::size_t i = 0; i < edges.size(); ++i)
        if (i + 1 == edges.size() || edges[i + 1].first != edges[i].first) *kept++ = edges[i];
      edges.erase(kept, edges.end());
    } else {
      std::ranges::sort(edges);
      edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    }
    for (const auto& [consumer, carrier] : edges) {
      ++inputs[consumer];
      if (carrier == at_the_end)
        by_op.emplace_back(op, consumer);
      else
        by_tensor.emplace_back(carrier, consumer);
    }
  }
  std::ranges::sort(by_tensor);
  sent = lists_of(by_tensor, problem.tensor_count());
  released = lists_of(by_op, problem.op_count());
}

void SwitchedProblem::set_lanes(const Switches& switches) {
  lanes.begin.reserve(devices * devices + 1);
  for (std::uint32_t from = 0; from < devices; ++from)
    for (std::uint32_t to = 0; to < devices; ++to) {
      if (from != to) switch (switches.channels) {
          case ChannelScope::problem:
            for (const std::uint32_t channel : problem.route(DeviceId{from}, DeviceId{to}))
              if (problem.channels[channel].contention) lanes.items.push_back(channel);
            break;
          case ChannelScope::none: break;
          case ChannelScope::egress: lanes.items.push_back(from); break;
          case ChannelScope::pair: lanes.items.push_back(static_cast<std::uint32_t>(pair(from, to))); break;
          case ChannelScope::shared: lanes.items.insert(lanes.items.end(), {from, to}); break;
        }
      lanes.begin.push_back(static_cast<std::uint32_t>(lanes.items.size()));
    }
  for (const std::uint32_t lane : lanes.items) lane_count = std::max<std::size_t>(lane_count, lane + 1);
}

void SwitchedProblem::set_transfers(const Switches& switches) {
  const Clock clock{switches.instant_zeros};
  const std::size_t tensors = problem.tensor_count();
  const Ticks notice = switches.notice_s > 0 ? clock.ticks(switches.notice_s) : 0;
  message_bytes = problem.tensor_bytes;
  if (switches.control == ControlEdge::four) std::ranges::replace(message_bytes, Bytes{0}, Bytes{4});

  const auto add = [&](double latency_s, double transmission_s) {
    const bool late = switches.latency == LatencyIn::path, busy = switches.latency != LatencyIn::off;
    travel.push_back(clock.ticks((late ? latency_s : 0) + transmission_s) + notice);
    hold.push_back(clock.ticks((busy ? latency_s : 0) + transmission_s));
  };
  column.assign(devices * devices, -1);
  const auto set_columns = [&](const auto& column_of) {
    for (std::size_t from = 0; from < devices; ++from)
      for (std::size_t to = 0; to < devices; ++to)
        if (from != to) column[pair(from, to)] = static_cast<std::int32_t>(column_of(from, to));
  };

  if (const auto* fixed = std::get_if<FixedRates>(&switches.rates)) {
    columns = 1;
    set_columns([](std::size_t, std::size_t) { return 0; });
    for (std::size_t t = 0; t < tensors; ++t)
      add(fixed->latency_s, static_cast<double>(message_bytes[t]) / fixed->bytes_per_s);
  } else if (const auto* by_producer = std::get_if<ProducerRates>(&switches.rates)) {
    columns = devices;
    set_columns([](std::size_t from, std::size_t) { return from; });
    for (std::size_t t = 0; t < tensors; ++t)
      for (std::size_t from = 0; from < devices; ++from)
        add(by_producer->factor * to_seconds(std::max<Ticks>(0, time(problem.producer[t].index(), from))), 0);
  } else {
    const double missing = std::get<RouteRates>(switches.rates).missing_bytes_per_s;
    const std::size_t classes = problem.route_classes.size();
    columns = classes + (missing > 0 ? 1 : 0);
    set_columns([&](std::size_t from, std::size_t to) {
      const std::int32_t cls = problem.route_class[pair(from, to)];
      return cls < 0 && missing > 0 ? static_cast<std::int32_t>(classes) : cls;
    });
    for (std::size_t t = 0; t < tensors; ++t) {
      for (std::size_t cls = 0; cls < classes; ++cls) {
        if (problem.given_transfer_times) {  // without latencies the whole time is transmission
          hold.push_back(problem.transfer_time[t * classes + cls]);
          travel.push_back(hold.back() + notice);
          continue;
        }
        add(problem.route_classes[cls].latency_s,
            static_cast<double>(message_bytes[t]) / problem.route_classes[cls].bytes_per_s);
      }
      if (missing > 0) add(0, static_cast<double>(message_bytes[t]) / missing);
    }
  }
}

// Checks the limits of ProblemBuilder (docs/simulation.md) again, for the changed times and one copy per consumer.
void SwitchedProblem::check_totals(const Switches& switches) const {
  Wide ticks = 0, bytes = 0;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    const auto row = op_hold.begin() + static_cast<std::ptrdiff_t>(op * devices);
    ticks += *std::max_element(row, row + static_cast<std::ptrdiff_t>(devices)) + dispatch;
    bytes += Wide{problem.resident[op]} + problem.scratch[op];
  }
  for (std::size_t t = 0; t < problem.tensor_count(); ++t) {
    const Wide copies = std::max(devices, switches.fan_out == FanOut::edge ? 1 + sent[t].size() : 0);
    Ticks longest = 0;
    for (std::size_t i = t * columns; i < (t + 1) * columns; ++i) longest = std::max({longest, hold[i], travel[i]});
    ticks += Wide{longest} * copies;
    bytes += Wide{message_bytes[t]} * copies;
  }
  if (ticks > total_limit)
    throw InputError({}, "under this simulator all times together ({:.4g} s) exceed 2^62 ps",
                     static_cast<double>(ticks) / ticks_per_second);
  if (bytes > total_limit)
    throw InputError({}, "under this simulator all bytes together ({:.4g}) exceed 2^62", static_cast<double>(bytes));
}

}  // namespace emplace::simulate::published
