#include "fit/chain.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace::fit {

const char* name_of(UnitKind kind) {
  switch (kind) {
    case UnitKind::input: return "input";
    case UnitKind::attention: return "attention";
    case UnitKind::feed_forward: return "feed_forward";
    case UnitKind::experts: return "experts";
    case UnitKind::output: return "output";
    case UnitKind::layer: return "layer";
  }
  return "";
}

std::size_t Chain::before(std::size_t u) const {
  if (u == 0) return size();
  return is_experts(u) || !is_experts(u - 1) ? u - 1 : u - 2;
}

Ticks Chain::node_time(std::size_t u, std::size_t a, std::size_t b) const {
  const Ticks own = time_on(u, a);
  if (!has_experts(u) || own == cannot_run) return own;
  const Ticks experts = time_on(u + 1, b);
  if (experts == cannot_run) return cannot_run;
  if (a == b) return own + experts;
  const Ticks there = hop(u + 1, a, b), home = hop_back(u + 1, b, a);
  if (there == cannot_run || home == cannot_run) return cannot_run;
  const Ticks meanwhile = beside[u * device_count() + a];
  return own - meanwhile + std::max(meanwhile, there + experts + home);
}

Ticks latency(const Chain& chain, const Assignment& assignment) {
  Ticks sum = 0;
  for (std::size_t u = 0; u < chain.size(); u = chain.after(u)) {
    const Ticks node = chain.node_time(u, assignment[u], chain.has_experts(u) ? assignment[u + 1] : assignment[u]);
    const std::size_t before = chain.before(u);
    const Ticks hop = before == chain.size() ? 0 : chain.hop(u, assignment[before], assignment[u]);
    if (node == cannot_run || hop == cannot_run) return cannot_run;
    sum += node + hop;
  }
  return sum;
}

std::vector<Bytes> held(const Chain& chain, const Assignment& assignment) {
  std::vector<Bytes> bytes(chain.device_count(), 0);
  for (std::size_t u = 0; u < chain.size(); ++u) bytes[assignment[u]] += chain.units[u].bytes();
  return bytes;
}

std::vector<Ticks> loads(const Chain& chain, const Assignment& assignment, const std::vector<std::uint8_t>& exempt) {
  std::vector<Ticks> load(chain.device_count(), 0);
  const auto transfer = [&](Ticks ticks, std::size_t from, std::size_t to) {
    if (from == to) return;
    if (exempt[from] == 0) load[from] += ticks;
    if (exempt[to] == 0) load[to] += ticks;
  };
  for (std::size_t u = 0; u < chain.size(); ++u) {
    const std::size_t d = assignment[u], before = chain.before(u);
    load[d] += chain.time_on(u, d);
    if (before == chain.size()) continue;
    transfer(chain.hop(u, assignment[before], d), assignment[before], d);
    if (chain.is_experts(u)) transfer(chain.hop_back(u, d, assignment[before]), d, assignment[before]);
  }
  return load;
}

bool has_room(const Chain& chain, const std::vector<Bytes>& held) {
  for (std::size_t d = 0; d < held.size(); ++d)
    if (held[d] > chain.room[d]) return false;
  return true;
}

bool Space::is_ordered() const {
  return std::ranges::any_of(ordered, [](std::uint8_t is) { return is != 0; });
}

Space free_space(const Chain& chain) {
  return {std::vector<std::uint8_t>(chain.size() * chain.device_count(), 1),
          std::vector<std::uint8_t>(chain.size(), 0)};
}

bool contains(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order,
              const Assignment& assignment) {
  std::size_t last = 0;
  for (std::size_t u = 0; u < chain.size(); ++u) {
    if (space.allowed[u * chain.device_count() + assignment[u]] == 0) return false;
    if (space.ordered[u] == 0) continue;
    const auto found = std::ranges::find(order, assignment[u]);
    if (found == order.end()) return false;
    const auto position = static_cast<std::size_t>(found - order.begin());
    if (position < last) return false;
    last = position;
  }
  return true;
}

Assignment Merged::expand(const Assignment& merged) const {
  Assignment full(group.size());
  for (std::size_t u = 0; u < group.size(); ++u) full[u] = merged[group[u]];
  return full;
}

Merged merge(const Chain& chain, const std::vector<std::size_t>& group) {
  const std::size_t devices = chain.device_count(), groups = group.empty() ? 0 : group.back() + 1;
  Merged out{{.devices = chain.devices,
              .room = chain.room,
              .units = std::vector<Unit>(groups),
              .time = std::vector<Ticks>(groups * devices, 0),
              .to = std::vector<Ticks>(groups * devices * devices, 0),
              .back = std::vector<Ticks>(groups * devices * devices, 0),
              .beside = std::vector<Ticks>(groups * devices, 0)},
             group};
  for (std::size_t u = 0; u < chain.size(); ++u) {
    const std::size_t g = group[u];
    Unit& unit = out.chain.units[g];
    const bool first = u == 0 || group[u - 1] != g, alone = first && (u + 1 == chain.size() || group[u + 1] != g);
    if (first) {
      unit = {.name = chain.units[u].name,
              .kind = alone ? chain.units[u].kind : UnitKind::layer,
              .layer = chain.units[u].layer};
      const std::size_t square = devices * devices;
      std::copy_n(chain.to.begin() + static_cast<std::ptrdiff_t>(u * square), square,
                  out.chain.to.begin() + static_cast<std::ptrdiff_t>(g * square));
      if (alone)
        std::copy_n(chain.back.begin() + static_cast<std::ptrdiff_t>(u * square), square,
                    out.chain.back.begin() + static_cast<std::ptrdiff_t>(g * square));
    }
    unit.layer = std::max(unit.layer, chain.units[u].layer);
    unit.weights += chain.units[u].weights;
    unit.cache += chain.units[u].cache;
    unit.buffers += chain.units[u].buffers;
    for (std::size_t d = 0; d < devices; ++d) {
      Ticks& time = out.chain.time[g * devices + d];
      const Ticks more = chain.time_on(u, d);
      time = time == cannot_run || more == cannot_run ? cannot_run : time + more;
      if (alone) out.chain.beside[g * devices + d] = chain.beside[u * devices + d];
    }
  }
  return out;
}

}  // namespace emplace::fit
