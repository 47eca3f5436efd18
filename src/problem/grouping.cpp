#include "emplace/problem/grouping.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "problem/model_blocks.hpp"
#include "problem/only_consumers.hpp"
#include "problem/unit_merger.hpp"

namespace emplace {

namespace {

// Calls visit(producer unit, consumer unit, bytes) once for each pair of a tensor and another unit that consumes it.
template <class Visit>
void for_each_consumer_unit(const Problem& problem, const std::vector<std::uint32_t>& unit_of_op, Visit&& visit) {
  std::vector<std::uint32_t> seen_for(problem.op_count(),
                                      OpId::none_value);  // indexed by unit: the last tensor visited for it
  for (std::uint32_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    const std::uint32_t from = unit_of_op[problem.producer[tensor].index()];
    for (const std::uint32_t consumer : problem.consumers[tensor]) {
      const std::uint32_t to = unit_of_op[consumer];
      if (to == from || seen_for[to] == tensor) continue;
      seen_for[to] = tensor;
      visit(from, to, problem.tensor_bytes[tensor]);
    }
  }
}

void merge_groups(const Problem& problem, UnitMerger& units) {
  std::vector<std::uint32_t> first(problem.group_names.size(), OpId::none_value);
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
    if (problem.group[op].is_none()) continue;
    std::uint32_t& root = first[problem.group[op].index()];
    root = root == OpId::none_value ? op : units.merge(root, op);
  }
}

// Ops that no device of their block can run stay alone.
void merge_blocks(const Problem& problem, const std::vector<std::string>& blocks, UnitMerger& units) {
  std::unordered_map<std::string, std::uint32_t> first;
  for (std::uint32_t op = 0; op < problem.op_count(); ++op) {
    if (blocks[op].empty()) continue;
    const auto [at, is_new] = first.emplace(blocks[op], op);
    const std::uint32_t block = units.find(at->second), own = units.find(op);
    if (!is_new && block != own && units.compatible(block, own)) units.merge(block, own);
  }
}

// The units before any contraction; for each, its only consumer unit and its only producer unit, or `several`, or
// OpId::none_value.
struct OnlyNeighbours {
  static constexpr std::uint32_t several = OpId::none_value - 1;
  std::vector<std::uint32_t> unit, op_of_unit, consumer, producer;

  OnlyNeighbours(const Problem& problem, const UnitMerger& units)
      : unit(units.numbering(problem.topological)),
        op_of_unit(problem.op_count(), OpId::none_value),
        consumer(problem.op_count(), OpId::none_value),
        producer(problem.op_count(), OpId::none_value) {
    for_each_consumer_unit(problem, unit, [&](std::uint32_t from, std::uint32_t to, Bytes) {
      auto note = [](std::uint32_t& present, std::uint32_t other) {
        if (present == OpId::none_value) present = other;
        if (present != other) present = several;
      };
      note(consumer[from], to);
      note(producer[to], from);
    });
    for (const std::uint32_t op : problem.topological)
      if (op_of_unit[unit[op]] == OpId::none_value) op_of_unit[unit[op]] = op;
  }
};

// The chain rule is applied to every edge of the graph before any contraction, so the result does not depend on an
// order. (Without cycles, contracting an edge does not change whether the rule holds for another: repeating it is not
// needed.)
void merge_chains(const Problem& problem, UnitMerger& units) {
  const OnlyNeighbours only(problem, units);
  const auto next_of = [&](std::uint32_t u) {
    const std::uint32_t next = only.consumer[u];
    return next < only.several && only.producer[next] == u ? next : OpId::none_value;
  };
  const auto starts_chain = [&](std::uint32_t u) {
    const std::uint32_t before = only.producer[u];
    return !(before < only.several && only.consumer[before] == u);
  };

  std::vector<char> done(problem.op_count(), 0);
  const auto walk = [&](std::uint32_t head) {
    std::uint32_t root = units.find(only.op_of_unit[head]);
    done[head] = 1;
    for (std::uint32_t u = next_of(head); u != OpId::none_value && !done[u]; u = next_of(u)) {
      done[u] = 1;
      const std::uint32_t other = units.find(only.op_of_unit[u]);
      root = units.compatible(root, other) ? units.merge(root, other) : other;
    }
  };
  const auto count = static_cast<std::uint32_t>(units.count());
  for (std::uint32_t u = 0; u < count; ++u)
    if (starts_chain(u)) walk(u);
  for (std::uint32_t u = 0; u < count; ++u)  // cycles have no start: begin with the first op
    if (!done[u]) walk(u);
}

// Goes through the units in order, so that every set grows from its first producer.
void merge_into_single_parents(const Problem& problem, UnitMerger& units) {
  const OnlyNeighbours only(problem, units);
  const auto count = static_cast<std::uint32_t>(units.count());
  for (std::uint32_t u = 0; u < count; ++u) {
    if (only.producer[u] >= only.several) continue;
    const std::uint32_t parent = units.find(only.op_of_unit[only.producer[u]]);
    const std::uint32_t child = units.find(only.op_of_unit[u]);
    if (parent != child && units.compatible(parent, child)) units.merge(parent, child);
  }
}

// Draws a group for every unit, in topological order. member[g]: an op of group g, or OpId::none_value.
void merge_at_random(const Problem& problem, UnitMerger& units, std::size_t groups, Stream& random) {
  std::vector<std::uint32_t> member(groups, OpId::none_value);
  std::vector<char> done(problem.op_count(), 0);
  for (const std::uint32_t op : problem.topological) {
    const std::uint32_t unit = units.find(op);
    if (done[unit]) continue;  // drawn at its first op; the root of a group that has grown is marked too
    const auto takes = [&](std::uint32_t other) {
      return other == OpId::none_value || units.compatible(units.find(other), unit);
    };
    std::uint32_t drawn = random.below(static_cast<std::uint32_t>(member.size()));
    if (!takes(member[drawn])) {
      std::vector<std::uint32_t> able;
      for (std::uint32_t g = 0; g < member.size(); ++g)
        if (takes(member[g])) able.push_back(g);
      if (able.empty()) {
        able.push_back(static_cast<std::uint32_t>(member.size()));
        member.push_back(OpId::none_value);
      }
      drawn = able[random.below(static_cast<std::uint32_t>(able.size()))];
    }
    done[unit] = 1;
    if (member[drawn] != OpId::none_value) done[units.merge(member[drawn], unit)] = 1;
    member[drawn] = unit;
  }
}

std::vector<std::vector<UnitMerger::Exchange>> exchanges(const Problem& problem, const UnitMerger& units) {
  std::vector<std::uint32_t> root(problem.op_count());
  for (std::uint32_t op = 0; op < root.size(); ++op) root[op] = units.find(op);
  std::vector<std::vector<UnitMerger::Exchange>> lists(problem.op_count());
  for_each_consumer_unit(problem, root, [&](std::uint32_t from, std::uint32_t to, Bytes bytes) {
    lists[from].push_back({to, bytes});
    lists[to].push_back({from, bytes});
  });
  return lists;
}

}  // namespace

const std::vector<std::string>& grouping_names() {
  static const std::vector<std::string> names = {"op",      "colocation",    "chain",          "random",
                                                 "colocrl", "colocrl-group", "colocrl-blocks", "single-parent",
                                                 "even",    "layers"};
  return names;
}

GroupingKind grouping_of(std::string_view name, const std::string& place) {
  const auto& names = grouping_names();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return static_cast<GroupingKind>(i);
  const std::string near = did_you_mean(name, names);
  throw InputError(place, "unknown grouping {}{}", quote(name),
                   near.empty() ? "; there are: " + join(names, ", ") : near);
}

std::string_view name_of(GroupingKind kind) { return grouping_names()[static_cast<std::size_t>(kind)]; }

void Grouping::expand(const std::vector<std::uint8_t>& device_of_unit, Placement& placement) const {
  EMPLACE_CHECK(device_of_unit.size() == count(), "{} devices for {} units", device_of_unit.size(), count());
  placement.order.clear();
  placement.device.resize(unit_of_op.size());
  for (std::size_t op = 0; op < unit_of_op.size(); ++op) placement.device[op] = device_of_unit[unit_of_op[op]];
}

Placement Grouping::expand(const std::vector<std::uint8_t>& device_of_unit) const {
  Placement placement;
  expand(device_of_unit, placement);
  return placement;
}

std::vector<std::uint8_t> Grouping::read(const Placement& placement) const {
  EMPLACE_CHECK(placement.device.size() == unit_of_op.size());
  std::vector<std::uint8_t> devices;
  devices.reserve(count());
  for (std::size_t unit = 0; unit < count(); ++unit) devices.push_back(placement.device[members[unit].front()]);
  return devices;
}

namespace {

Grouping numbered_grouping(const Problem& problem, std::vector<std::uint32_t> unit_of_op, std::size_t count) {
  const std::size_t op_count = problem.op_count();
  const std::size_t device_count = problem.device_count();
  Grouping grouping;
  grouping.unit_of_op = std::move(unit_of_op);
  grouping.allowed.assign(count * device_count, 1);
  grouping.members.begin.assign(count + 1, 0);
  grouping.members.items.resize(op_count);
  for (std::size_t op = 0; op < op_count; ++op) {
    const std::size_t unit = grouping.unit_of_op[op];
    ++grouping.members.begin[unit + 1];
    std::uint8_t* const allowed = grouping.allowed.data() + unit * device_count;
    const Ticks* const time = problem.op_time.data() + op * device_count;
    for (std::size_t d = 0; d < device_count; ++d) allowed[d] &= time[d] == cannot_run ? 0 : 1;
  }
  std::partial_sum(grouping.members.begin.begin(), grouping.members.begin.end(), grouping.members.begin.begin());
  std::vector<std::uint32_t> next(grouping.members.begin.begin(), grouping.members.begin.end() - 1);
  for (std::uint32_t op = 0; op < op_count; ++op) grouping.members.items[next[grouping.unit_of_op[op]]++] = op;
  return grouping;
}

Grouping grouping_of_units(const Problem& problem, const UnitMerger& units, Merging merging = Merging::most_bytes) {
  Grouping grouping = numbered_grouping(problem, units.numbering(problem.topological), units.count());
  grouping.merging = merging;
  return grouping;
}

UnitMerger merged_as(const Problem& problem, const Grouping& grouping) {
  UnitMerger units(problem);
  for (std::size_t unit = 0; unit < grouping.count(); ++unit)
    for (const std::uint32_t op : grouping.members[unit].subspan(1)) units.merge(grouping.members[unit].front(), op);
  return units;
}

// Until `at_most` units remain or every merge would join ops of different layers.
void merge_in_layers(const Problem& problem, UnitMerger& units, std::size_t at_most, Merging merging) {
  if (problem.layer.empty()) return;
  std::vector<std::uint32_t> layer_of(problem.op_count(), OpLabels::none);  // indexed by root
  for (std::uint32_t op = 0; op < layer_of.size(); ++op) {
    std::uint32_t& layer = layer_of[units.find(op)];
    if (layer == OpLabels::none) layer = problem.layer.of_op[op];
  }
  units.merge_until(at_most, exchanges(problem, units), merging, [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t of_a = layer_of[a], of_b = layer_of[b];
    if (of_a != OpLabels::none && of_b != OpLabels::none && of_a != of_b) return false;
    layer_of[units.merge(a, b)] = of_a == OpLabels::none ? of_b : of_a;
    return true;
  });
}

// Until `at_most` units remain, those first that exchange most bytes times a random factor.
void merge_by_random_bytes(const Problem& problem, UnitMerger& units, std::size_t at_most, Merging merging,
                           Stream random) {
  auto lists = exchanges(problem, units);
  constexpr Bytes steps = 256;
  for (auto& list : lists)
    for (UnitMerger::Exchange& exchange : list)
      exchange.bytes = std::max<Bytes>(exchange.bytes / steps, 1) * (1 + random.below(steps));
  units.merge_until(at_most, std::move(lists), merging);
}

}  // namespace

Grouping random_grouping(const Problem& problem, std::size_t groups, Stream random) {
  EMPLACE_CHECK(groups > 0);
  UnitMerger units(problem);
  merge_groups(problem, units);
  merge_at_random(problem, units, groups, random);
  return grouping_of_units(problem, units);
}

Grouping make_grouping(const Problem& problem, GroupingKind kind, std::size_t at_most, const std::string& place,
                       std::uint64_t seed, double max_share) {
  const bool evenly = kind == GroupingKind::even || kind == GroupingKind::layers;
  const Merging merging = evenly ? Merging::most_bytes_for_work : Merging::most_bytes;
  const bool colocrl =
      kind == GroupingKind::colocrl || kind == GroupingKind::colocrl_group || kind == GroupingKind::colocrl_blocks;
  if (max_share < 1 && !colocrl)
    throw InputError(place,
                     "a largest share of the work is only for the groupings 'colocrl', 'colocrl-group' and "
                     "'colocrl-blocks', not for '{}'",
                     name_of(kind));
  at_most = std::min(at_most, problem.op_count());
  if (kind == GroupingKind::random) {
    if (at_most == 0) throw InputError(place, "the grouping 'random' needs a number of groups");
    return random_grouping(problem, at_most, Stream({.seed = seed, .purpose = Purpose::random_grouping}));
  }

  UnitMerger units(problem);
  if (kind != GroupingKind::op) merge_groups(problem, units);
  OnlyConsumers rule{.repeat = kind == GroupingKind::colocrl_group, .max_share = max_share};
  if (kind == GroupingKind::colocrl_blocks) {
    rule.block = model_blocks(problem);
    merge_blocks(problem, rule.block, units);
  }
  if (kind == GroupingKind::chain) merge_chains(problem, units);
  if (kind == GroupingKind::single_parent) merge_into_single_parents(problem, units);
  UnitMerger::Join join;
  std::optional<AcyclicMerger> acyclic;
  if (colocrl) {
    acyclic.emplace(problem, units);
    merge_only_consumers(problem, *acyclic, units, rule);
    join = [&](std::uint32_t a, std::uint32_t b) { return acyclic->join(a, b); };
  }
  if (at_most > 0 && units.count() > at_most) {
    if (kind == GroupingKind::layers) merge_in_layers(problem, units, at_most, merging);
    units.merge_until(at_most, exchanges(problem, units), merging, join);
    if (units.count() > at_most)
      throw InputError(place, "{} groups wanted, but {} remain: no device can run any two of them together{}", at_most,
                       units.count(), colocrl ? ", or merging them would create a cycle" : "");
  }
  if (colocrl) return numbered_grouping(problem, number_by_dependence(problem, units), units.count());
  return grouping_of_units(problem, units, merging);
}

Grouping group_by(const Problem& problem, std::span<const std::uint32_t> label) {
  EMPLACE_CHECK(label.size() == problem.op_count());
  UnitMerger units(problem);
  std::unordered_map<std::uint32_t, std::uint32_t> first;  // op of each label
  for (std::uint32_t op = 0; op < label.size(); ++op)
    if (const auto [found, fresh] = first.try_emplace(label[op], op); !fresh) units.merge(found->second, op);
  return grouping_of_units(problem, units);
}

Problem with_groups(Problem problem, const Grouping& grouping) {
  problem.group_names.clear();
  for (std::size_t unit = 0; unit < grouping.count(); ++unit)
    problem.group_names.push_back("unit " + std::to_string(unit));
  for (std::size_t op = 0; op < problem.op_count(); ++op) problem.group[op] = GroupId{grouping.unit_of_op[op]};
  return problem;
}

Grouping coarsen(const Problem& problem, const Grouping& grouping, std::size_t at_most) {
  UnitMerger units = merged_as(problem, grouping);
  if (units.count() > at_most) units.merge_until(at_most, exchanges(problem, units), grouping.merging);
  return grouping_of_units(problem, units, grouping.merging);
}

Grouping coarsen_at_random(const Problem& problem, const Grouping& grouping, std::size_t at_most, Stream random) {
  if (grouping.count() <= at_most) return grouping;
  UnitMerger units = merged_as(problem, grouping);
  merge_by_random_bytes(problem, units, at_most, grouping.merging, random);
  return grouping_of_units(problem, units, grouping.merging);
}

Grouping coarsen_in_place(const Problem& problem, const Grouping& grouping, std::size_t at_most,
                          std::span<const std::uint8_t> device, Stream random) {
  UnitMerger units = merged_as(problem, grouping);
  if (units.count() <= at_most) return grouping_of_units(problem, units, grouping.merging);
  for (std::size_t unit = 0; unit < grouping.count(); ++unit) {
    const std::uint32_t op = grouping.members[unit].front();
    if (grouping.allows(unit, device[op])) units.keep_on(units.find(op), device[op]);
  }
  merge_by_random_bytes(problem, units, at_most, grouping.merging, random);
  return grouping_of_units(problem, units, grouping.merging);
}

std::vector<Grouping> levels_of(Grouping finest, std::size_t coarsest,
                                const std::function<Grouping(const Grouping& finer)>& merge) {
  std::vector<Grouping> levels;
  levels.push_back(std::move(finest));
  while (levels.back().count() > coarsest) {
    Grouping coarser = merge(levels.back());
    if (coarser.count() == levels.back().count()) break;
    levels.push_back(std::move(coarser));
  }
  std::ranges::reverse(levels);
  return levels;
}

}  // namespace emplace
