#include "search/partition/unit_graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "search/list/mean_costs.hpp"

namespace emplace::search {

namespace {

struct WeightedEdge {
  std::uint32_t from, to;
  double weight;
};

// One edge for each tensor and other unit that consumes it, in both directions.
std::vector<WeightedEdge> edges_between_units(const Problem& problem, const Grouping& grouping, EdgeWeight weight) {
  const MeanCosts costs(problem);
  const auto weight_of = [&](std::uint32_t tensor) {
    return weight == EdgeWeight::bytes ? static_cast<double>(problem.tensor_bytes[tensor]) : costs.transfer[tensor];
  };
  std::vector<WeightedEdge> edges;
  std::vector<std::uint32_t> reached_by(grouping.count(), std::numeric_limits<std::uint32_t>::max());
  for (std::uint32_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    const std::uint32_t from = grouping.unit_of_op[problem.producer[tensor].index()];
    for (const std::uint32_t consumer : problem.consumers[tensor]) {
      const std::uint32_t to = grouping.unit_of_op[consumer];
      if (to == from || reached_by[to] == tensor) continue;
      reached_by[to] = tensor;
      edges.push_back({from, to, weight_of(tensor)});
      edges.push_back({to, from, weight_of(tensor)});
    }
  }
  return edges;
}

}  // namespace

UnitGraph make_unit_graph(const Problem& problem, const Grouping& grouping, EdgeWeight weight) {
  std::vector<WeightedEdge> edges = edges_between_units(problem, grouping, weight);
  // A stable sort, so that both directions of a pair are summed in the same order.
  std::ranges::stable_sort(edges, [](const WeightedEdge& a, const WeightedEdge& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  });
  UnitGraph graph;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const WeightedEdge& edge = edges[i];
    while (graph.begin.size() <= edge.from) graph.begin.push_back(graph.neighbour.size());
    if (i > 0 && edges[i - 1].from == edge.from && edges[i - 1].to == edge.to) {
      graph.weight.back() += edge.weight;
    } else {
      graph.neighbour.push_back(edge.to);
      graph.weight.push_back(edge.weight);
    }
  }
  graph.begin.resize(grouping.count() + 1, graph.neighbour.size());
  return graph;
}

namespace {

// R: the sum of all tensors' transfer times for each class of routes; only the ratios of these costs matter.
std::vector<double> class_costs(const Problem& problem) {
  const std::size_t classes = problem.route_classes.size();
  std::vector<double> cost(classes, 0);
  for (std::size_t i = 0; i < problem.transfer_time.size(); ++i)
    cost[i % classes] += static_cast<double>(problem.transfer_time[i]);
  return cost;
}

std::vector<double> distances(const Problem& problem, std::span<const std::uint8_t> device) {
  const std::vector<double> cost = class_costs(problem);
  const std::size_t count = device.size();
  std::vector<double> distance(count * count, 0);
  double smallest = std::numeric_limits<double>::infinity(), largest = 0;
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) {
      double sum = 0;
      int routes = 0;
      for (const auto& [from, to] : {std::pair(device[a], device[b]), std::pair(device[b], device[a])}) {
        const std::int32_t cls = problem.route_class[from * problem.device_count() + to];
        if (cls < 0) continue;
        sum += cost[static_cast<std::size_t>(cls)];
        ++routes;
      }
      if (routes == 0 || sum == 0) continue;
      distance[a * count + b] = sum / routes;
      smallest = std::min(smallest, sum / routes);
      largest = std::max(largest, sum / routes);
    }
  for (std::size_t a = 0; a < count; ++a)
    for (std::size_t b = 0; b < count; ++b) {
      double& d = distance[a * count + b];
      if (a == b) continue;
      if (largest == 0)
        d = 1;
      else
        d = (d > 0 ? d : 10 * largest) / smallest;
    }
  return distance;
}

}  // namespace

Processors make_processors(const Problem& problem, const Units& units, std::span<const std::uint8_t> usable) {
  Processors processors;
  for (std::size_t d = 0; d < units.devices; ++d) {
    bool runs_something = false;
    for (std::size_t unit = 0; unit < units.count() && usable[d] != 0 && !runs_something; ++unit)
      runs_something = units.grouping.allows(unit, d);
    if (runs_something) processors.device.push_back(static_cast<std::uint8_t>(d));
  }
  processors.work.assign(units.count(), 0);
  std::vector<double> work(processors.count(), 0), time(processors.count(), 0);
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint8_t d : processors.device)
      if (units.grouping.allows(unit, d))
        least = std::min(least, static_cast<double>(units.time[unit * units.devices + d]));
    if (!std::isfinite(least)) continue;
    processors.work[unit] = least;
    for (std::size_t k = 0; k < processors.count(); ++k) {
      const std::uint8_t d = processors.device[k];
      if (!units.grouping.allows(unit, d)) continue;
      work[k] += least;
      time[k] += static_cast<double>(units.time[unit * units.devices + d]);
    }
  }
  for (std::size_t k = 0; k < processors.count(); ++k) processors.speed.push_back(time[k] > 0 ? work[k] / time[k] : 1);
  processors.distance = distances(problem, processors.device);
  return processors;
}

std::vector<std::uint8_t> settle(const Units& units, const Processors& processors,
                                 std::span<const std::uint32_t> part) {
  std::vector<std::uint8_t> of_unit(units.count());
  std::vector<Ticks> load(units.devices, 0);
  std::vector<std::size_t> homeless;
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    if (processors.work[unit] == 0 || !units.grouping.allows(unit, processors.device[part[unit]])) {
      homeless.push_back(unit);
      continue;
    }
    of_unit[unit] = processors.device[part[unit]];
    load[of_unit[unit]] += units.time[unit * units.devices + of_unit[unit]];
  }
  for (const std::size_t unit : homeless) {
    std::size_t best = units.devices;
    const auto consider = [&](std::size_t d) {
      if (!units.grouping.allows(unit, d)) return;
      const Ticks end = load[d] + units.time[unit * units.devices + d];
      if (best == units.devices || end < load[best] + units.time[unit * units.devices + best]) best = d;
    };
    for (const std::uint8_t d : processors.device) consider(d);
    for (std::size_t d = 0; d < units.devices && processors.work[unit] == 0; ++d) consider(d);
    load[best] += units.time[unit * units.devices + best];
    of_unit[unit] = static_cast<std::uint8_t>(best);
  }
  return of_unit;
}

std::vector<std::int64_t> scaled(std::span<const double> values, double total) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  const double factor = sum > 0 ? total / sum : 0;
  std::vector<std::int64_t> whole;
  whole.reserve(values.size());
  for (const double value : values) whole.push_back(std::max<std::int64_t>(1, std::llround(value * factor)));
  return whole;
}

}  // namespace emplace::search
