#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "emplace/base/random.hpp"
#include "report/modules.hpp"
#include "report/page.hpp"
#include "report/placement_json.hpp"

namespace emplace::report {

namespace {

// With fewer modules, or fewer for each device, the run's units say more about a graph.
constexpr std::size_t fewest_modules = 4, fewest_on_device = 2;

// The deepest scope that more than half of the ops share, with the range of names in it: "encoder/layer2/attention",
// "decoder/step3…7".
std::string name_of_group(const Problem& problem, std::span<const std::uint32_t> ops) {
  if (ops.size() == 1) return page_text(problem.op_names[ops.front()], longest_name);
  constexpr const char* separators = "/.:";
  constexpr int deepest = 8;
  std::string_view scope;  // the beginning of a name, up to and including a separator
  for (int depth = 0; depth < deepest; ++depth) {
    std::map<std::string_view, std::size_t> count;
    for (const std::uint32_t op : ops) {
      const std::string_view name = problem.op_names[op];
      const std::size_t end = name.find_first_of(separators, scope.size());
      if (end != std::string_view::npos && name.starts_with(scope)) ++count[name.substr(0, end + 1)];
    }
    const auto most = std::ranges::max_element(count, {}, [](const auto& each) { return each.second; });
    if (most == count.end() || 2 * most->second <= ops.size()) break;
    scope = most->first;
  }
  std::string_view first, last;
  for (const std::uint32_t op : ops) {
    const std::string_view name = problem.op_names[op];
    if (!name.starts_with(scope)) continue;
    last = name.substr(scope.size(), name.find_first_of(separators, scope.size()) - scope.size());
    if (first.empty()) first = last;
  }
  const bool is_one = first == last;
  auto same = static_cast<std::size_t>(std::ranges::mismatch(first, last).in1 - first.begin());
  while (same > 0 && first[same - 1] >= '0' && first[same - 1] <= '9') --same;  // do not cut inside a number
  return page_text(fmt::format("{}{}{}{}", scope, first, is_one ? "" : "…", is_one ? "" : last.substr(same)),
                   longest_name);
}

// The run's units. If a picture cannot show so many, neighbours on one device are merged, first those that exchange
// most bytes in relation to their work, so that no group absorbs all others.
Modules units_of(const FoundPlacement& found, std::size_t most) {
  Grouping units = found.units;
  units.merging = Merging::most_bytes_for_work;
  units = coarsen_in_place(found.problem(), units, most, found.placement.device,
                           Stream{{.purpose = Purpose::random_grouping}});
  Modules groups{.of_op = units.unit_of_op, .members = {}, .names = {}};
  for (std::size_t i = 0; i < units.count(); ++i) {
    groups.members.emplace_back(units.members[i].begin(), units.members[i].end());
    groups.names.push_back(name_of_group(found.problem(), units.members[i]));
  }
  return groups;
}

// The groups sorted by the mean position of their ops in the topological order, so that most edges go forward. Not all
// can, because merged units may depend on each other in cycles.
std::vector<std::uint32_t> in_topological_order(const Problem& problem, const Modules& groups) {
  std::vector<double> place(groups.count());
  for (std::size_t i = 0; i < problem.topological.size(); ++i) {
    const std::uint32_t group = groups.of_op[problem.topological[i]];
    place[group] += static_cast<double>(i) / static_cast<double>(groups.members[group].size());
  }
  std::vector<std::uint32_t> order(groups.count());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t group) { return place[group]; });
  return order;
}

using BytesBetween = std::map<std::pair<std::uint32_t, std::uint32_t>, Bytes>;

// Bytes that move between devices, from group to group: a tensor counts once for each other group that reads it on
// another device. `number`: the number on the page of each group.
BytesBetween bytes_between(const Problem& problem, const std::vector<std::uint8_t>& device, const Modules& groups,
                           const std::vector<std::uint32_t>& number) {
  BytesBetween bytes;
  std::vector<std::uint32_t> readers;
  for (std::size_t t = 0; t < problem.tensor_count(); ++t) {
    const std::uint32_t producer = problem.producer[t].value;
    const std::uint32_t from = number[groups.of_op[producer]];
    readers.clear();
    for (const std::uint32_t op : problem.consumers[t])
      if (device[op] != device[producer]) readers.push_back(number[groups.of_op[op]]);
    std::ranges::sort(readers);
    for (std::size_t i = 0; i < readers.size(); ++i)
      if (readers[i] != from && (i == 0 || readers[i] != readers[i - 1]))
        bytes[{from, readers[i]}] += problem.tensor_bytes[t];
  }
  return bytes;
}

// [from, to, bytes] of the `most` heaviest edges.
Json edges_json(const BytesBetween& bytes, std::size_t most) {
  std::vector<std::pair<BytesBetween::key_type, Bytes>> list(bytes.begin(), bytes.end());
  std::ranges::stable_sort(list, std::greater<>(), [](const auto& edge) { return edge.second; });
  if (list.size() > most) list.resize(most);
  Json edges = Json::array();
  for (const auto& [ends, size] : list) edges.push_back({ends.first, ends.second, size});
  return edges;
}

class Groups {
 public:
  Groups(const FoundPlacement& found, const Explanation& explanation, const ShownItems& shown,
         const PlacementLimits& limits)
      : p_(found.problem()),
        device_(found.placement.device),
        e_(explanation),
        shown_(shown),
        limits_(limits),
        units_(found.units.count()),
        groups_(modules_of(p_, device_, limits.groups)),
        rank_(p_.op_count()),
        row_(p_.op_count(), ShownItems::none) {
    for (std::uint32_t i = 0; i < p_.topological.size(); ++i) rank_[p_.topological[i]] = i;
    std::vector<char> used(p_.device_count(), 0);
    for (const std::uint8_t device : device_) used[device] = 1;
    const auto devices = static_cast<std::size_t>(std::ranges::count(used, 1));
    by_module_ = groups_.count() >= std::max(fewest_modules, fewest_on_device * devices);
    if (!by_module_) groups_ = units_of(found, limits.groups);
  }

  Json json() {
    const std::vector<std::uint32_t> order = in_topological_order(p_, groups_);
    std::vector<std::uint32_t> number(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
    const std::vector<Ticks> on_path = time_on_path();
    const BytesBetween bytes = bytes_between(p_, device_, groups_, number);
    std::vector<Bytes> reads(order.size()), sends(order.size());
    for (const auto& [ends, size] : bytes) {
      sends[ends.first] += size;
      reads[ends.second] += size;
    }
    Json nodes = Json::array(), of_ops = Json::array();
    for (std::uint32_t i = 0; i < order.size(); ++i) {
      nodes.push_back(node(order[i]));
      nodes.back()["on_path"] = on_path[order[i]];
      nodes.back()["reads"] = reads[i];
      nodes.back()["sends"] = sends[i];
    }
    for (const std::uint32_t op : shown_.ops()) of_ops.push_back(number[groups_.of_op[op]]);
    return {{"units", units_},
            {"by_module", by_module_},
            {"of_ops", std::move(of_ops)},
            {"nodes", std::move(nodes)},
            {"edges", edges_json(bytes, limits_.edges)},
            {"edges_total", bytes.size()}};
  }

 private:
  [[nodiscard]] Ticks time(std::uint32_t op) const {
    return std::max<Ticks>(0, p_.time(OpId{op}, DeviceId{device_[op]}));
  }

  [[nodiscard]] std::vector<Ticks> time_on_path() const {
    std::vector<Ticks> time(groups_.count());
    for (const simulate::PathStep& step : e_.path)
      if (step.is_op()) time[groups_.of_op[step.op.index()]] += step.duration();
    return time;
  }

  Json node(std::uint32_t group) {
    const std::vector<std::uint32_t>& members = groups_.members[group];
    Ticks lasts = 0;
    Bytes resident = 0;
    bool one_device = true;
    for (const std::uint32_t op : members) {
      lasts += time(op);
      resident += p_.resident[op];
      one_device = one_device && device_[op] == device_[members.front()];
    }
    Json object = {{"name", groups_.names[group]},
                   {"device", one_device ? Json(device_[members.front()]) : Json()},
                   {"ops", members.size()},
                   {"lasts", lasts},
                   {"resident", resident}};
    add_members(object, members);
    return object;
  }

  // Adds the ops of a group, for when it is opened, in topological order as positions among the shown ops, and [from,
  // to, bytes] of the edges between them.
  void add_members(Json& object, std::span<const std::uint32_t> members) {
    std::vector<std::uint32_t> ops(members.begin(), members.end());
    std::erase_if(ops, [&](std::uint32_t op) { return shown_.position_of_op(op) == ShownItems::none; });
    if (ops.size() > limits_.ops_of_group) {
      std::ranges::stable_sort(ops, std::greater<>(), [&](std::uint32_t op) { return time(op); });
      ops.resize(limits_.ops_of_group);
    }
    std::ranges::sort(ops, {}, [&](std::uint32_t op) { return rank_[op]; });
    Json positions = Json::array(), edges = Json::array();
    for (std::uint32_t i = 0; i < ops.size(); ++i) {
      row_[ops[i]] = i;
      positions.push_back(shown_.position_of_op(ops[i]));
    }
    for (const std::uint32_t op : ops)
      for (const std::uint32_t tensor : p_.inputs[op])
        if (const std::uint32_t from = row_[p_.producer[tensor].index()]; from != ShownItems::none)
          edges.push_back({from, row_[op], p_.tensor_bytes[tensor]});
    for (const std::uint32_t op : ops) row_[op] = ShownItems::none;
    object["members"] = std::move(positions);
    object["inside"] = std::move(edges);
  }

  const Problem& p_;
  const std::vector<std::uint8_t>& device_;
  const Explanation& e_;
  const ShownItems& shown_;
  const PlacementLimits& limits_;
  const std::size_t units_;
  Modules groups_;
  bool by_module_ = true;
  std::vector<std::uint32_t> rank_;  // in the topological order
  std::vector<std::uint32_t> row_;   // of an op in the group that is being written
};

}  // namespace

Json groups_json(const FoundPlacement& found, const Explanation& explanation, const ShownItems& shown,
                 const PlacementLimits& limits) {
  return Groups(found, explanation, shown, limits).json();
}

}  // namespace emplace::report
