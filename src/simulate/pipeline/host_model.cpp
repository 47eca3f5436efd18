#include "simulate/pipeline/host_model.hpp"

#include <algorithm>

namespace emplace::simulate {

namespace {
constexpr const char* host_kind = "cpu";
}

HostModel::HostModel(const Problem& problem)
    : p_(problem),
      ways_(problem.device_count()),
      resident_(problem.device_count()),
      device_of_group_(problem.group_names.size()) {
  const auto is_host = [&](const Device& device) { return device.kind == host_kind; };
  const bool any_host = std::ranges::any_of(p_.devices, is_host);
  for (std::size_t d = 0; d < ways_.size(); ++d) {
    ways_[d].pays = !is_host(p_.devices[d]);
    for (std::size_t host = 0; host < ways_.size(); ++host) {
      // If no device is a host, all other devices are treated as hosts.
      if (host == d || (any_host && !is_host(p_.devices[host]))) continue;
      add_link(ways_[d].out, DeviceId{d}, DeviceId{host}, DeviceId{host});
      add_link(ways_[d].in, DeviceId{host}, DeviceId{d}, DeviceId{host});
    }
  }
}

void HostModel::add_link(std::vector<HostLink>& list, DeviceId from, DeviceId to, DeviceId host) const {
  const std::int32_t cls = p_.route_class[from.index() * p_.device_count() + to.index()];
  if (cls < 0) return;
  const auto route_class = static_cast<std::size_t>(cls);
  if (std::ranges::none_of(list, [&](const HostLink& link) { return link.route_class == route_class; }))
    list.push_back({route_class, host});
}

std::optional<HostModel::HostTransfer> HostModel::quickest(const std::vector<HostLink>& links, TensorId tensor) const {
  std::optional<HostTransfer> best;
  for (const HostLink& link : links) {
    const Ticks time = p_.transfer_time[tensor.index() * p_.route_classes.size() + link.route_class];
    if (!best || time < best->time) best = {time, link.host};
  }
  return best;
}

Outcome HostModel::unsupported_op(const std::vector<std::uint8_t>& device) const {
  for (std::uint32_t op = 0; op < device.size(); ++op)
    if (!p_.can_run(OpId{op}, DeviceId{device[op]}))
      return {.why = Infeasible::unsupported_op, .device = device[op], .subject = op};
  return {};
}

Outcome HostModel::split_group(const std::vector<std::uint8_t>& device) {
  constexpr std::uint16_t nowhere = max_devices;
  std::fill(device_of_group_.begin(), device_of_group_.end(), nowhere);
  std::size_t split = device_of_group_.size();
  for (std::size_t op = 0; op < device.size(); ++op) {
    if (p_.group[op].is_none()) continue;
    std::uint16_t& known = device_of_group_[p_.group[op].index()];
    if (known == nowhere) known = device[op];
    if (known != device[op]) split = std::min(split, p_.group[op].index());
  }
  if (split == device_of_group_.size()) return {};
  return {.why = Infeasible::split_group, .subject = static_cast<std::uint32_t>(split)};
}

void HostModel::judge_memory(const std::vector<std::uint8_t>& device, Outcome& outcome) {
  std::fill(resident_.begin(), resident_.end(), 0);
  for (std::size_t op = 0; op < device.size(); ++op) resident_[device[op]] += p_.resident[op];
  for (std::size_t d = 0; d < resident_.size(); ++d) {
    if (resident_[d] <= p_.devices[d].memory) continue;
    outcome.overflow += resident_[d] - p_.devices[d].memory;
    if (!outcome.feasible()) continue;
    outcome.why = Infeasible::memory;
    outcome.device = static_cast<std::uint8_t>(d);
  }
}

}  // namespace emplace::simulate
