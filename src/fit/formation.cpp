#include "fit/formation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

#include "language/shard.hpp"

namespace emplace::fit {

namespace {

using machine::Machine;
using machine::MachineDevice;
using machine::MachineRoute;
using Group = std::vector<std::size_t>;  // positions in the machine

bool have_equal_figures(const MachineDevice& a, const MachineDevice& b) {
  const auto figures = [](const MachineDevice& d) {
    return std::tie(d.kind, d.memory_bytes, d.memory_limited, d.peak_flops, d.memory_bytes_per_s, d.launch_overhead_s,
                    d.efficiency, d.memory_efficiency, d.half_flops, d.half_bytes, d.fused_speedup, d.overlap,
                    d.unsupported);
  };
  return figures(a) == figures(b);
}

const MachineRoute* route_between(const Machine& machine, std::size_t from, std::size_t to) {
  const auto found = std::ranges::find_if(
      machine.routes, [&](const MachineRoute& route) { return route.from == from && route.to == to; });
  return found == machine.routes.end() ? nullptr : &*found;
}

double latency_of(const Machine& machine, const MachineRoute& route) {
  double sum = 0;
  for (const std::size_t channel : route.channels) sum += machine.channels[channel].latency_s;
  return sum;
}

double s_per_byte_of(const Machine& machine, const MachineRoute& route) {
  double most = 0;
  for (const std::size_t channel : route.channels) most = std::max(most, 1 / machine.channels[channel].bytes_per_s);
  return most;
}

bool are_joined(const Machine& machine, const Group& group) {
  for (const std::size_t a : group)
    for (const std::size_t b : group)
      if (a != b && route_between(machine, a, b) == nullptr) return false;
  return true;
}

// Accelerators of one host that are equal, `size` at a time.
std::vector<Group> groups_of(const Machine& machine, std::size_t size) {
  std::vector<Group> open, groups;
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    const MachineDevice& device = machine.devices[d];
    if (is_host_kind(device.kind)) continue;
    auto found = std::ranges::find_if(open, [&](const Group& group) {
      const MachineDevice& first = machine.devices[group[0]];
      return have_equal_figures(first, device) && host_of(first.name) == host_of(device.name);
    });
    if (found == open.end()) found = open.insert(open.end(), Group{});
    found->push_back(d);
    if (found->size() < size) continue;
    if (are_joined(machine, *found)) groups.push_back(std::move(*found));
    open.erase(found);
  }
  std::ranges::sort(groups);
  return groups;
}

// Groups in classes of equal ones.
std::vector<std::vector<Group>> classes_of(const Machine& machine, const std::vector<Group>& groups) {
  std::vector<std::vector<Group>> classes;
  for (const Group& group : groups) {
    auto found = std::ranges::find_if(classes, [&](const std::vector<Group>& equal) {
      return have_equal_figures(machine.devices[equal[0][0]], machine.devices[group[0]]);
    });
    if (found == classes.end()) found = classes.insert(classes.end(), std::vector<Group>{});
    found->push_back(group);
  }
  return classes;
}

std::vector<std::size_t> per_replica(const std::vector<std::vector<Group>>& classes, std::size_t replicas) {
  std::vector<std::size_t> counts;
  for (const std::vector<Group>& equal : classes) counts.push_back(equal.size() / replicas);
  return counts;
}

std::string name_of_group(const Machine& machine, const Group& group) {
  const std::string& first = machine.devices[group.front()].name;
  if (group.size() == 1) return first;
  const std::string& last = machine.devices[group.back()].name;
  const std::size_t colon = first.rfind(':');
  const bool in_a_row = group.back() - group.front() + 1 == group.size() && colon != std::string::npos &&
                        last.substr(0, colon + 1) == first.substr(0, colon + 1);
  if (in_a_row) return first + "-" + last.substr(colon + 1);
  std::string name = first;
  for (std::size_t i = 1; i < group.size(); ++i) name += "+" + machine.devices[group[i]].name;
  return name;
}

// Around the group's devices in their order. Hops of all rings that are busy at the same time share channels.
Ring ring_of(const Machine& machine, const Group& group, const std::vector<Group>& busy) {
  if (group.size() < 2) return {};
  const auto each_hop = [&](const Group& of, auto&& visit) {
    for (std::size_t i = 0; i < of.size(); ++i) visit(*route_between(machine, of[i], of[(i + 1) % of.size()]));
  };
  std::vector<double> uses(machine.channels.size(), 0);
  for (const Group& each : busy)
    each_hop(each, [&](const MachineRoute& route) {
      for (const std::size_t channel : route.channels) ++uses[channel];
    });
  Ring ring;
  each_hop(group, [&](const MachineRoute& route) {
    ring.latency_s = std::max(ring.latency_s, latency_of(machine, route));
    for (const std::size_t c : route.channels) {
      const machine::MachineChannel& channel = machine.channels[c];
      ring.s_per_byte = std::max(ring.s_per_byte, (channel.contention ? uses[c] : 1) / channel.bytes_per_s);
    }
  });
  return ring;
}

// Numbered in their hosts; hosts have none.
std::vector<std::vector<Parallel::Accelerator>> accelerators_of(const Machine& machine,
                                                                const std::vector<Group>& members) {
  std::vector<Parallel::Accelerator> all;
  std::map<std::string, int> seen;
  for (const MachineDevice& device : machine.devices) {
    const std::string host = host_of(device.name);
    all.push_back({host, is_host_kind(device.kind) ? -1 : seen[host]++});
  }
  std::vector<std::vector<Parallel::Accelerator>> out(members.size());
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const std::size_t d : members[i])
      if (all[d].number >= 0) out[i].push_back(all[d]);
  return out;
}

// A formation from its groups by replica; nullopt if a replica's routes are slower than those of the first one.
class Former {
 public:
  Former(const Machine& machine, std::int64_t tensor, std::vector<std::vector<Group>> replicas)
      : machine_(machine), replicas_(std::move(replicas)) {
    formation_.parallel.tensor = tensor;
    formation_.parallel.replicas = replicas_.size();
  }

  std::optional<Formation> form(Aim aim) {
    std::vector<Group> hosts;
    for (std::size_t d = 0; d < machine_.devices.size(); ++d)
      if (is_host_kind(machine_.devices[d].kind)) hosts.push_back({d});
    for (std::vector<Group>& replica : replicas_) replica.insert(replica.begin(), hosts.begin(), hosts.end());
    std::vector<Group> all;
    for (const auto& replica : replicas_)
      std::ranges::copy_if(replica, std::back_inserter(all), [](const Group& group) { return group.size() > 1; });
    formation_.machine.name = machine_.name;
    for (const Group& group : replicas_[0]) {
      MachineDevice device = machine_.devices[group[0]];
      device.name = name_of_group(machine_, group);
      formation_.machine.devices.push_back(std::move(device));
      formation_.rings.push_back(ring_of(machine_, group, aim == Aim::latency ? std::vector<Group>{group} : all));
    }
    if (!add_routes()) return std::nullopt;
    for (const auto& replica : replicas_)
      formation_.members.insert(formation_.members.end(), replica.begin(), replica.end());
    formation_.parallel.accelerators = accelerators_of(machine_, formation_.members);
    return std::move(formation_);
  }

 private:
  bool add_routes() {
    const std::vector<Group>& first = replicas_[0];
    for (std::size_t a = 0; a < first.size(); ++a)
      for (std::size_t b = 0; b < first.size(); ++b) {
        if (a == b) continue;
        const MachineRoute* route = route_between(machine_, first[a][0], first[b][0]);
        if (!is_as_fast_everywhere(a, b, route)) return false;
        if (route == nullptr) continue;
        MachineRoute copy{a, b, {}};
        for (const std::size_t channel : route->channels) copy.channels.push_back(number_of(channel));
        formation_.machine.routes.push_back(std::move(copy));
      }
    return true;
  }

  [[nodiscard]] bool is_as_fast_everywhere(std::size_t a, std::size_t b, const MachineRoute* route) const {
    const auto is_host = [&](std::size_t d) { return is_host_kind(formation_.machine.devices[d].kind); };
    if (route == nullptr || is_host(a) || is_host(b)) return true;  // no plan of the first replica uses it
    return std::ranges::all_of(replicas_, [&](const std::vector<Group>& replica) {
      const MachineRoute* other = route_between(machine_, replica[a][0], replica[b][0]);
      return other != nullptr && latency_of(machine_, *other) <= latency_of(machine_, *route) &&
             s_per_byte_of(machine_, *other) <= s_per_byte_of(machine_, *route);
    });
  }

  std::size_t number_of(std::size_t channel) {
    const auto [found, is_new] = numbers_.emplace(channel, formation_.machine.channels.size());
    if (is_new) formation_.machine.channels.push_back(machine_.channels[channel]);
    return found->second;
  }

  const Machine& machine_;
  std::vector<std::vector<Group>> replicas_;
  Formation formation_;
  std::map<std::size_t, std::size_t> numbers_;  // of channels
};

Formation plain_formation(const Machine& machine) {
  Formation plain{
      .parallel = {}, .machine = machine, .rings = std::vector<Ring>(machine.devices.size()), .members = {}};
  for (std::size_t d = 0; d < machine.devices.size(); ++d) plain.members.push_back({d});
  plain.parallel.accelerators = accelerators_of(machine, plain.members);
  return plain;
}

std::vector<std::vector<Group>> divided(const std::vector<std::vector<Group>>& classes, std::size_t replicas) {
  std::vector<std::vector<Group>> out(replicas);
  const std::vector<std::size_t> counts = per_replica(classes, replicas);
  for (std::size_t r = 0; r < replicas; ++r) {
    for (std::size_t c = 0; c < classes.size(); ++c)
      for (std::size_t i = 0; i < counts[c]; ++i) out[r].push_back(classes[c][r * counts[c] + i]);
    std::ranges::sort(out[r]);
  }
  return out;
}

bool ends_with_any(const std::string& name, std::initializer_list<const char*> ends) {
  return std::ranges::any_of(ends, [&](const char* end) { return name.ends_with(end); });
}

}  // namespace

std::vector<Formation> formations_of(const Machine& machine, const language::LanguageModel& model, const Rules& rules,
                                     Aim aim, std::int64_t sequences) {
  std::vector<Formation> formations{plain_formation(machine)};
  const std::size_t most_tensor = rules.tensor_parallel ? machine.devices.size() : 1;
  for (std::size_t tensor = 1; tensor <= most_tensor; ++tensor) {
    const auto parts = static_cast<std::int64_t>(tensor);
    const std::vector<Group> groups = groups_of(machine, tensor);
    if (groups.empty() || (tensor > 1 && !language::shard_of(model, parts, rules.repeats_keys))) continue;
    const auto classes = classes_of(machine, groups);
    const std::size_t most =
        rules.replicas && aim == Aim::throughput
            ? std::min(groups.size(), static_cast<std::size_t>(std::max<std::int64_t>(1, sequences)))
            : 1;
    for (std::size_t replicas = 1; replicas <= most; ++replicas) {
      if (tensor == 1 && replicas == 1) continue;
      // With one replica more, each has as much.
      if (replicas < most && per_replica(classes, replicas) == per_replica(classes, replicas + 1)) continue;
      auto replicated = divided(classes, replicas);
      if (replicated[0].empty()) continue;
      if (auto formation = Former(machine, parts, std::move(replicated)).form(aim))
        formations.push_back(std::move(*formation));
    }
  }
  return formations;
}

void add_exchanges(Problem& problem, const Formation& formation) {
  if (formation.parallel.tensor == 1) return;
  const auto parts = static_cast<double>(formation.parallel.tensor);
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    const std::string& name = problem.op_names[op];
    const bool reduces = ends_with_any(name, {"token_embd", ".attn_residual", ".ffn_residual"});
    if ((!reduces && name != "output") || problem.outputs[op].empty()) continue;
    const auto bytes = static_cast<double>(problem.tensor_bytes[problem.outputs[op][0]]);
    const double steps = (reduces ? 2 : 1) * (parts - 1), sent = reduces ? bytes / parts : bytes;
    for (std::size_t d = 0; d < problem.device_count(); ++d) {
      const Ring& ring = formation.rings[d];
      Ticks& time = problem.op_time[op * problem.device_count() + d];
      if (time == cannot_run || ring.s_per_byte <= 0) continue;
      time += ticks_of_seconds(steps * (ring.latency_s + sent * ring.s_per_byte));
    }
  }
}

language::Scenario of_one_replica(language::Scenario scenario, std::size_t replicas) {
  const auto count = static_cast<std::int64_t>(replicas);
  scenario.sequences = (scenario.sequences + count - 1) / count;
  return scenario;
}

std::string name_of(std::int64_t tensor, std::size_t replicas) {
  if (tensor == 1 && replicas == 1) return "layers in order";
  std::string text = tensor == 1 ? "" : fmt::format("tensor-parallel over {} devices each", tensor);
  if (replicas > 1) text += fmt::format("{}{} replicas", text.empty() ? "" : ", ", replicas);
  return text;
}

std::string host_of(const std::string& device) {
  const std::size_t slash = device.rfind('/');
  return slash == std::string::npos ? "" : device.substr(0, slash);
}

}  // namespace emplace::fit
