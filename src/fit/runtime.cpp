#include "fit/runtime.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "fit/orders.hpp"

namespace emplace::fit {

namespace {

constexpr std::size_t most_orders = 120;

struct DeviceSplit {
  std::vector<std::uint8_t> hosts, accelerators;
};
DeviceSplit split_by_kind(const std::vector<std::string>& kinds) {
  DeviceSplit split;
  for (std::size_t d = 0; d < kinds.size(); ++d)
    (is_host_kind(kinds[d]) ? split.hosts : split.accelerators).push_back(static_cast<std::uint8_t>(d));
  return split;
}

// The layers' parts as one, input and output with the first and the last layer; or every unit alone.
std::vector<std::size_t> groups_of(const Rules& rules, const Chain& chain) {
  std::vector<std::size_t> group(chain.size(), 0);
  for (std::size_t u = 1; u < chain.size(); ++u) {
    const Unit &unit = chain.units[u], &last = chain.units[u - 1];
    const bool joined = rules.whole_layers && (unit.layer == last.layer || unit.kind == UnitKind::output ||
                                               (last.kind == UnitKind::input && !rules.input_on_host));
    group[u] = group[u - 1] + (joined ? 0 : 1);
  }
  return group;
}

RuntimeSpace space_with(const Rules& rules, const Chain& chain, const DeviceSplit& split) {
  RuntimeSpace out{.merged = merge(chain, groups_of(rules, chain)), .space = {}, .orders = {}, .all_orders = false};
  const Chain& merged = out.merged.chain;
  out.space = {std::vector<std::uint8_t>(merged.size() * chain.device_count(), 0),
               std::vector<std::uint8_t>(merged.size(), 0)};
  const bool with_hosts = rules.uses_hosts || split.accelerators.empty();
  for (std::size_t u = 0; u < merged.size(); ++u) {
    const bool on_host = rules.input_on_host && merged.units[u].kind == UnitKind::input && !split.hosts.empty();
    const auto allow = [&](std::uint8_t d) {
      out.space.allowed[u * chain.device_count() + d] = merged.time_on(u, d) == cannot_run ? 0 : 1;
    };
    if (on_host) {
      allow(split.hosts[0]);
      out.space.ordered[u] = rules.whole_layers ? 1 : 0;
      continue;
    }
    if (with_hosts) std::ranges::for_each(split.hosts, allow);
    std::ranges::for_each(split.accelerators, allow);
    if (rules.in_pieces)
      out.space.ordered[u] = merged.units[u].kind == UnitKind::attention || merged.units[u].kind == UnitKind::layer;
  }
  // llama.cpp gives the first layers to the host, and no other order.
  auto [orders, all] = orders_of(merged, split.accelerators, most_orders);
  out.all_orders = all;
  if (const auto as_given = std::ranges::find(orders, split.accelerators); as_given != orders.end())
    std::rotate(orders.begin(), as_given, as_given + 1);
  else
    orders.insert(orders.begin(), split.accelerators);
  for (std::vector<std::uint8_t>& order : orders) {
    if (with_hosts) order.insert(order.begin(), split.hosts.begin(), split.hosts.end());
    out.orders.push_back(std::move(order));
  }
  return out;
}

std::string layer_text(const Unit& unit) {
  return unit.layer < 0 ? std::string(name_of(unit.kind)) : fmt::format("layer {}", unit.layer);
}

}  // namespace

bool is_host_kind(const std::string& kind) { return kind == "cpu"; }

std::vector<RuntimeSpace> spaces_of(const Rules& rules, const Chain& chain, const std::vector<std::string>& kinds) {
  const DeviceSplit split = split_by_kind(kinds);
  std::vector<RuntimeSpace> spaces;
  if (!rules.one_accelerator || split.accelerators.size() < 2) {
    spaces.push_back(space_with(rules, chain, split));
    return spaces;
  }
  for (const std::uint8_t d : split.accelerators) spaces.push_back(space_with(rules, chain, {split.hosts, {d}}));
  return spaces;
}

std::string why_unsayable(const Rules& rules, const Chain& chain, const std::vector<std::string>& kinds,
                          const Assignment& assignment, const Parallel& parallel) {
  if (parallel.tensor > 1 && !rules.tensor_parallel)
    return fmt::format("it divides no layer among devices as this plan does among {}", parallel.tensor);
  if (parallel.replicas > 1 && !rules.replicas)
    return fmt::format("it runs one copy of the model, and this plan has {}", parallel.replicas);
  const DeviceSplit split = split_by_kind(kinds);
  std::optional<std::uint8_t> accelerator;
  for (std::size_t u = 0; u < chain.size(); ++u) {
    const std::uint8_t d = assignment[u];
    const bool on_host = is_host_kind(kinds[d]);
    if (on_host && !rules.uses_hosts && !split.accelerators.empty())
      return fmt::format("it computes nothing on {}, where {} is", chain.devices[d], chain.units[u].name);
    if (rules.input_on_host && chain.units[u].kind == UnitKind::input && !on_host && !split.hosts.empty())
      return fmt::format("the embeddings stay on {}", chain.devices[split.hosts[0]]);
    if (on_host) continue;
    if (rules.one_accelerator && accelerator && *accelerator != d)
      return fmt::format("it uses one accelerator, not both {} and {}", chain.devices[*accelerator], chain.devices[d]);
    accelerator = d;
  }
  const Merged merged = merge(chain, groups_of(rules, chain));
  for (std::size_t u = 1; u < chain.size(); ++u)
    if (merged.group[u] == merged.group[u - 1] && assignment[u] != assignment[u - 1])
      return fmt::format("it keeps {} and {} together, which are on {} and {}", chain.units[u - 1].name,
                         chain.units[u].name, chain.devices[assignment[u - 1]], chain.devices[assignment[u]]);
  if (!rules.in_pieces) return "";
  std::vector<std::uint8_t> seen;
  for (std::size_t u = 0; u < chain.size(); ++u) {
    if (chain.units[u].kind != UnitKind::attention) continue;
    if (!seen.empty() && seen.back() == assignment[u]) continue;
    if (std::ranges::find(seen, assignment[u]) != seen.end())
      return fmt::format("{} would hold two pieces of the model, with {} in the second", chain.devices[assignment[u]],
                         layer_text(chain.units[u]));
    if (!seen.empty() && is_host_kind(kinds[assignment[u]]) && !is_host_kind(kinds[seen.back()]))
      return fmt::format("{} comes first, but has {}", chain.devices[assignment[u]], layer_text(chain.units[u]));
    seen.push_back(assignment[u]);
  }
  return "";
}

}  // namespace emplace::fit
