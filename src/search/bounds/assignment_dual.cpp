#include "search/bounds/assignment_dual.hpp"

#include <algorithm>
#include <cmath>

namespace emplace::search {

namespace {

constexpr double multiplier_scale = 0x1p32;

// x in units of 2^-32, limited to the range from 0 to 1 (2^32 units).
std::int64_t whole(double x) { return x > 0 ? static_cast<std::int64_t>(std::min(x, 1.0) * multiplier_scale) : 0; }

// x in units of 2^-32, limited so that later sums cannot overflow 128 bits.
Wide wide(double x) {
  return x > 0 && std::isfinite(x) ? static_cast<Wide>(std::min(x * multiplier_scale, 0x1p100)) : 0;
}

}  // namespace

Ticks dual_certificate(const StepArcs& a, const Multipliers& given) {
  const std::size_t devices = a.devices;
  // Optimal load and tail multipliers sum to about 1; the bound does not depend on their scale.
  Wide total = 0;
  std::vector<std::int64_t> load(devices);
  for (std::size_t d = 0; d < devices; ++d) total += load[d] = whole(given.load[d]);

  std::vector<Wide> in(a.ops, 0), out(a.ops, 0), head(a.ops, 0), tail(a.ops, 0);
  std::vector<std::int64_t> arc;
  for (std::size_t e = 0; e < a.arcs.size(); ++e) {
    arc.push_back(whole(given.arc[e]));
    out[a.arcs[e].from] += arc[e];
    in[a.arcs[e].to] += arc[e];
  }
  for (std::size_t op = 0; op < a.ops; ++op) {
    tail[op] = std::max<Wide>(whole(given.tail[op]), in[op] - out[op]);
    head[op] = out[op] + tail[op] - in[op];
    total += tail[op];
  }
  if (total == 0) return 0;

  std::vector<Wide> cost(a.ops * devices, 0);
  for (std::size_t op = 0; op < a.ops; ++op)
    for (std::size_t d = 0; d < devices; ++d) {
      const std::size_t at = op * devices + d;
      if (a.time[at] == never) continue;
      cost[at] = (load[d] + out[op] + tail[op]) * a.time[at] + tail[op] * a.tail[at] + head[op] * a.head[at];
    }
  for (std::size_t e = 0; e < a.arcs.size(); ++e)
    for (std::size_t d = 0; d < devices; ++d) {
      const std::size_t at = e * devices + d;
      const Wide most = Wide{arc[e]} * a.transfer[at];
      const Wide move = std::min(most, wide(given.move[at]));
      cost[a.arcs[e].to * devices + d] += move;
      cost[a.arcs[e].from * devices + d] -= move;
    }

  std::vector<Wide> memory(devices, 0);
  Wide sum = 0;
  for (std::size_t d = 0; d < devices; ++d) {
    const Bytes limit = a.problem.devices[d].memory;
    if (limit == no_memory_limit || limit > total_limit) continue;
    const double price = given.memory[d] * multiplier_scale;
    // An absurdly large price gives no bound and would overflow.
    if (!(price > 0) || price * static_cast<double>(std::max<Bytes>(limit, 1)) > 0x1p100) continue;
    memory[d] = static_cast<Wide>(price);
    sum -= memory[d] * limit;
  }
  for (std::size_t unit = 0; unit < a.units.count(); ++unit) {
    bool any = false;
    Wide least = 0;
    Wide resident = 0;
    for (const std::uint32_t op : a.units.members[unit]) resident += a.problem.resident[op];
    for (std::size_t d = 0; d < devices; ++d) {
      if (!a.allows(unit, d)) continue;
      Wide here = memory[d] * std::min<Wide>(resident, a.problem.devices[d].memory);
      for (const std::uint32_t op : a.units.members[unit]) here += cost[op * devices + d];
      least = any ? std::min(least, here) : here;
      any = true;
    }
    sum += least;
  }
  // A value above the longest possible step is reached only if no placement is feasible.
  return sum <= 0 ? 0 : static_cast<Ticks>(std::min<Wide>((sum + total - 1) / total, total_limit));
}

}  // namespace emplace::search
