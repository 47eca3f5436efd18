#include "policy/placeto/graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::policy {

namespace {

Lists lists_of(std::vector<std::vector<std::uint32_t>> rows) {
  Lists lists;
  for (std::vector<std::uint32_t>& row : rows) {
    std::ranges::sort(row);
    row.erase(std::ranges::unique(row).begin(), row.end());
    lists.items.insert(lists.items.end(), row.begin(), row.end());
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  return lists;
}

// Transitive closure, with one bit for each pair of units. In `order` a unit comes after its neighbours.
Lists reachable(const Lists& neighbours, std::span<const std::uint32_t> order) {
  const std::size_t count = order.size();
  const std::size_t words = (count + 63) / 64;
  std::vector<std::uint64_t> bits(count * words, 0);
  for (const std::uint32_t unit : order)
    for (const std::uint32_t other : neighbours[unit]) {
      for (std::size_t w = 0; w < words; ++w) bits[unit * words + w] |= bits[other * words + w];
      bits[unit * words + other / 64] |= std::uint64_t{1} << (other % 64);
    }
  Lists lists;
  for (std::size_t unit = 0; unit < count; ++unit) {
    for (std::uint32_t other = 0; other < count; ++other)
      if ((bits[unit * words + other / 64] >> (other % 64) & 1) != 0) lists.items.push_back(other);
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  return lists;
}

Lists rest_of(const Lists& ancestors, const Lists& descendants) {
  Lists lists;
  const std::size_t count = ancestors.rows();
  std::vector<char> related(count);
  for (std::uint32_t unit = 0; unit < count; ++unit) {
    std::ranges::fill(related, 0);
    related[unit] = 1;
    for (const std::uint32_t other : ancestors[unit]) related[other] = 1;
    for (const std::uint32_t other : descendants[unit]) related[other] = 1;
    for (std::uint32_t other = 0; other < count; ++other)
      if (related[other] == 0) lists.items.push_back(other);
    lists.begin.push_back(static_cast<std::uint32_t>(lists.items.size()));
  }
  return lists;
}

std::vector<float> scaled(const std::vector<double>& values) {
  const double largest = std::ranges::max(values);
  std::vector<float> out;
  for (const double value : values) out.push_back(static_cast<float>(largest > 0 ? value / largest : value));
  return out;
}

double mean_time(const Problem& problem, std::uint32_t op) {
  double sum = 0;
  double able = 0;
  for (std::size_t d = 0; d < problem.device_count(); ++d)
    if (const Ticks time = problem.time(OpId{op}, DeviceId{d}); time != cannot_run) {
      sum += static_cast<double>(time);
      ++able;
    }
  return sum / able;
}

}  // namespace

PlacetoGraph placeto_graph(const PolicyProblem& of, bool random_order, Stream stream) {
  const Problem& problem = *of.problem;
  const Grouping& grouping = of.grouping;
  const std::size_t count = grouping.count();
  if (count > placeto_most_units)
    throw InputError("policy placeto",
                     "places one unit after the other, at most {}, but {} has {}; `groups` reduces them",
                     placeto_most_units, quote(problem.name), count);
  std::vector<std::vector<std::uint32_t>> parents(count), children(count);
  std::vector<double> cost(count, 0), bytes(count, 0), memory(count, 0);
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
    const std::uint32_t unit = grouping.unit_of_op[op];
    cost[unit] += mean_time(problem, op);
    memory[unit] += static_cast<double>(problem.resident[op]);
    for (const std::uint32_t tensor : problem.outputs[op]) {
      bytes[unit] += static_cast<double>(problem.tensor_bytes[tensor]);
      for (const std::uint32_t consumer : problem.consumers[tensor]) {
        const std::uint32_t to = grouping.unit_of_op[consumer];
        if (to <= unit) continue;
        parents[to].push_back(unit);
        children[unit].push_back(to);
      }
    }
  }
  PlacetoGraph graph;
  graph.parents = lists_of(std::move(parents));
  graph.children = lists_of(std::move(children));
  graph.order.resize(count);
  std::iota(graph.order.begin(), graph.order.end(), 0u);
  graph.ancestors = reachable(graph.parents, graph.order);
  std::ranges::reverse(graph.order);
  graph.descendants = reachable(graph.children, graph.order);
  std::ranges::reverse(graph.order);
  graph.rest = rest_of(graph.ancestors, graph.descendants);
  graph.cost = scaled(cost);
  graph.bytes = scaled(bytes);
  graph.memory = scaled(memory);
  for (std::size_t i = random_order ? count : 0; i > 1; --i)
    std::swap(graph.order[i - 1], graph.order[stream.below(static_cast<std::uint32_t>(i))]);
  return graph;
}

void read_unit_starts(const Grouping& grouping, std::span<const Ticks> starts, std::uint32_t current,
                      std::vector<float>& relative) {
  relative.assign(grouping.count(), 0.0f);
  if (starts.empty()) return;
  std::vector<Ticks> first(grouping.count(), std::numeric_limits<Ticks>::max());
  for (std::size_t op = 0; op < starts.size(); ++op) {
    Ticks& of_unit = first[grouping.unit_of_op[op]];
    of_unit = std::min(of_unit, starts[op]);
  }
  double largest = 0;
  for (const Ticks start : first) largest = std::max(largest, std::abs(static_cast<double>(start - first[current])));
  if (largest == 0) return;
  for (std::size_t unit = 0; unit < first.size(); ++unit)
    relative[unit] = static_cast<float>(static_cast<double>(first[unit] - first[current]) / largest);
}

void write_placeto_state(const PlacetoGraph& graph, std::size_t devices, bool with_memory, std::size_t step,
                         std::span<const std::uint8_t> device_of_unit, std::span<const float> relative_starts,
                         std::span<float> state) {
  const std::size_t columns = placeto_features(devices, with_memory);
  EMPLACE_CHECK(state.size() == graph.count() * columns);
  std::ranges::fill(state, 0.0f);
  for (std::size_t i = 0; i < graph.count(); ++i) {
    const std::uint32_t unit = graph.order[i];
    float* row = state.data() + unit * columns;
    row[0] = graph.cost[unit];
    row[1] = graph.bytes[unit];
    row[2] = i < step ? 1.0f : 0.0f;
    row[3] = i == step ? 1.0f : 0.0f;
    row[4] = relative_starts[unit];
    if (with_memory) row[5] = graph.memory[unit];
    if (device_of_unit[unit] != no_device) row[columns - devices + device_of_unit[unit]] = 1.0f;
  }
}

}  // namespace emplace::policy
