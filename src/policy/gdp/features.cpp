#include "policy/gdp/features.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "emplace/base/error.hpp"
#include "policy/common/op_features.hpp"
#include "policy/gdp/relative_costs.hpp"

namespace emplace::policy {

namespace {

Lists lists_of(std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs, std::size_t rows) {
  std::ranges::sort(pairs);
  pairs.erase(std::ranges::unique(pairs).begin(), pairs.end());
  Lists lists;
  std::size_t next = 0;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (; next < pairs.size() && pairs[next].first == row; ++next) lists.items.push_back(pairs[next].second);
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  return lists;
}

void add_last_dimensions(const OutputShapes& shapes, std::size_t op, float share, std::span<float> into) {
  if (shapes.output_count(op) == 0) return;
  const std::span<const std::int64_t> shape = shapes.output(op, 0);
  const std::size_t count = std::min(shape.size(), into.size());
  for (std::size_t j = 0; j < count; ++j)
    into[into.size() - 1 - j] +=
        share * static_cast<float>(std::log1p(static_cast<double>(shape[shape.size() - 1 - j])));
}

// N: a unit's time on the first device of the kind, -1 where that cannot run it.
std::vector<double> times_on(const PolicyProblem& problem, const std::string& kind) {
  const Problem& p = *problem.problem;
  std::vector<double> times(problem.grouping.count(), -1.0);
  const auto device = std::ranges::find(p.devices, kind, &Device::kind);
  if (device == p.devices.end()) return times;
  const auto d = static_cast<std::size_t>(device - p.devices.begin());
  for (std::size_t unit = 0; unit < times.size(); ++unit) {
    double sum = 0;
    for (const std::uint32_t op : problem.grouping.members[unit]) {
      const Ticks time = p.op_time[op * p.device_count() + d];
      sum = time == cannot_run || sum < 0 ? -1 : sum + static_cast<double>(time);
    }
    times[unit] = sum;
  }
  return times;
}

std::vector<float> device_rows(const Problem& p) {
  const std::size_t devices = p.device_count(), ops = p.op_count();
  double fastest = 0, resident = 0, tensor = 0;
  std::vector<double> beside(devices, 0.0), own(devices, 0.0), runs(devices, 0.0);
  for (std::size_t op = 0; op < ops; ++op) {
    resident += static_cast<double>(p.resident[op]);
    double least = -1;
    for (std::size_t d = 0; d < devices; ++d)
      if (const auto time = static_cast<double>(p.op_time[op * devices + d]); time >= 0 && (least < 0 || time < least))
        least = time;
    fastest += std::max(least, 0.0);
    for (std::size_t d = 0; d < devices; ++d)
      if (const auto time = static_cast<double>(p.op_time[op * devices + d]); time >= 0) {
        own[d] += time;
        beside[d] += least;
        ++runs[d];
      }
  }
  for (const Bytes bytes : p.tensor_bytes) tensor += static_cast<double>(bytes);
  tensor /= static_cast<double>(std::max<std::size_t>(1, p.tensor_count()));
  const double op_seconds = to_seconds(static_cast<Ticks>(std::max(1.0, fastest / static_cast<double>(ops))));
  // Seconds of a transfer of mean size; 0 without a route.
  const auto transfer = [&](std::size_t from, std::size_t to) {
    const std::int32_t route = p.route_class[from * devices + to];
    if (route < 0) return 0.0;
    const Problem::RouteClass& of = p.route_classes[static_cast<std::size_t>(route)];
    return of.latency_s + tensor / of.bytes_per_s;
  };
  std::vector<float> rows;
  for (std::size_t d = 0; d < devices; ++d) {
    double out = 0, in = 0;
    for (std::size_t other = 0; other < devices; ++other) {
      out += transfer(d, other) / static_cast<double>(devices);
      in += transfer(other, d) / static_cast<double>(devices);
    }
    const double speed = own[d] > 0 ? std::log(beside[d] / own[d]) : 0;
    const double memory = p.devices[d].memory == no_memory_limit
                              ? 100.0
                              : std::min(100.0, static_cast<double>(p.devices[d].memory) / std::max(1.0, resident));
    for (const double value :
         {speed, runs[d] / static_cast<double>(ops), std::log1p(memory), std::log1p(out / op_seconds),
          std::log1p(in / op_seconds), 1 / static_cast<double>(devices)})
      rows.push_back(static_cast<float>(value));
    rows.resize(rows.size() + 2 * gdp_device_waves);
    set_position_waves(d, devices, std::span(rows).last(2 * gdp_device_waves));
  }
  return rows;
}

}  // namespace

std::size_t gdp_feature_count(const GdpFeatureOptions& options) {
  return gdp_dimensions + (options.neighbours ? gdp_predecessors : 0) + options.kinds.size() +
         (options.relative_costs ? gdp_unit_costs : 0) + 2 * options.position_waves;
}

GdpFeatures gdp_features(const PolicyProblem& problem, std::span<const std::string> op_types,
                         const GdpFeatureOptions& options) {
  const Problem& p = *problem.problem;
  const Grouping& units = problem.grouping;
  const std::size_t n = units.count(), width = gdp_feature_count(options);
  const std::vector<std::uint32_t> types = type_ids(p, op_types);
  GdpFeatures features;
  features.rows.assign(n * width, 0.0F);
  const auto row_of = [&](std::size_t unit) { return std::span(features.rows).subspan(unit * width, width); };

  std::size_t column = 0;
  for (std::size_t unit = 0; unit < n; ++unit) {
    const float share = 1 / static_cast<float>(units.members[unit].size());
    for (const std::uint32_t op : units.members[unit]) {
      if (types[op] != no_type) features.types.items.push_back(types[op]);
      add_last_dimensions(problem.shapes, op, share, row_of(unit).first(gdp_dimensions));
    }
    features.types.begin.push_back(static_cast<std::uint32_t>(features.types.items.size()));
  }
  check_features(problem, "shape", features.rows, width, column, gdp_dimensions);
  column += gdp_dimensions;

  auto edges = unit_edges(problem);
  if (options.neighbours) {
    std::vector<std::size_t> found(n, 0);
    for (const auto& [from, to] : edges)  // sorted by `from`, so predecessors are in order
      if (found[to] < gdp_predecessors)
        row_of(to)[column + found[to]++] =
            static_cast<float>((static_cast<double>(from) - static_cast<double>(to)) / static_cast<double>(n));
    column += gdp_predecessors;
  }
  const std::size_t count = edges.size();
  for (std::size_t e = 0; e < count; ++e) edges.emplace_back(edges[e].second, edges[e].first);
  features.neighbours = lists_of(std::move(edges), n);
  features.all.begin.push_back(static_cast<std::uint32_t>(n));
  for (std::uint32_t unit = 0; unit < n; ++unit) features.all.items.push_back(unit);

  for (const std::string& kind : options.kinds) {
    const std::vector<double> times = times_on(problem, kind);
    double sum = 0, able = 0;
    for (const double time : times)
      if (time >= 0) {
        sum += time;
        ++able;
      }
    for (std::size_t unit = 0; unit < n; ++unit)
      if (times[unit] > 0) row_of(unit)[column] = static_cast<float>(std::log(times[unit] * able / sum));
    check_features(problem, "cost", features.rows, width, column, 1);
    ++column;
  }
  if (options.relative_costs) {
    RelativeCosts costs = relative_costs(problem);
    for (std::size_t unit = 0; unit < n; ++unit)
      std::ranges::copy(std::span(costs.units).subspan(unit * gdp_unit_costs, gdp_unit_costs),
                        row_of(unit).subspan(column).begin());
    check_features(problem, "cost", features.rows, width, column, gdp_unit_costs);
    features.pairs = std::move(costs.pairs);
    column += gdp_unit_costs;
  }
  for (std::size_t unit = 0; unit < n; ++unit)
    set_position_waves(unit, n, row_of(unit).subspan(column, 2 * options.position_waves));
  EMPLACE_CHECK(column + 2 * options.position_waves == width);

  if (options.device_features) {
    features.devices = device_rows(p);
    for (const float value : features.devices)
      if (!std::isfinite(value)) throw InputError("problem " + p.name, "a feature of its devices is {}", value);
  }
  return features;
}

std::vector<std::string> device_kinds_of(std::span<const PolicyProblem> problems) {
  std::set<std::string> kinds;
  for (const PolicyProblem& each : problems)
    for (const Device& device : each.problem->devices) kinds.insert(device.kind);
  return {kinds.begin(), kinds.end()};
}

}  // namespace emplace::policy
