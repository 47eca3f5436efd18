#include "search/bounds/joint_devices.hpp"

#include <algorithm>

#include "search/bounds/joint_region.hpp"

namespace emplace::search {

namespace {

Turns turns_at(const Problem& p, std::size_t d, bool into) {
  const std::size_t devices = p.device_count();
  std::vector<std::size_t> uses(p.channels.size(), 0);
  std::size_t routes = 0;
  Turns turns;
  const auto route = [&](std::size_t e) { return p.routes[into ? e * devices + d : d * devices + e]; };
  for (std::size_t e = 0; e < devices; ++e) {
    routes += route(e).empty() ? 0 : 1;
    bool waits = route(e).empty();
    for (const std::uint32_t channel : route(e))
      if (p.channels[channel].contention) {
        waits = true;
        ++uses[channel];
      }
    turns.of_pair = turns.of_pair && waits;
  }
  const auto most = std::max_element(uses.begin(), uses.end());
  const bool any = most != uses.end() && *most > 0 && (*most > 1 || routes == 1);
  for (std::size_t e = 0; e < devices; ++e) {
    const auto on = route(e);
    const bool shares =
        any && std::find(on.begin(), on.end(), static_cast<std::uint32_t>(most - uses.begin())) != on.end();
    turns.beside.push_back(shares ? 0 : 1);
  }
  return turns;
}

}  // namespace

std::vector<Turns> turns_of(const Problem& p, bool into) {
  std::vector<Turns> turns;
  for (std::size_t d = 0; d < p.device_count(); ++d) turns.push_back(turns_at(p, d, into));
  return turns;
}

std::vector<std::size_t> alike_devices(const Problem& p, const std::vector<std::uint8_t>& possible,
                                       const std::vector<Turns>& in, const std::vector<Turns>& out) {
  const std::size_t devices = p.device_count();
  const auto cls = [&](std::size_t from, std::size_t to) { return p.route_class[from * devices + to]; };
  const auto wait_alike = [&](const std::vector<Turns>& of, std::size_t a, std::size_t b) {
    if (of[a].of_pair != of[b].of_pair || of[a].beside[b] != of[b].beside[a]) return false;
    for (std::size_t c = 0; c < devices; ++c)
      if (c != a && c != b && (of[a].beside[c] != of[b].beside[c] || of[c].beside[a] != of[c].beside[b])) return false;
    return true;
  };
  const auto alike = [&](std::size_t a, std::size_t b) {
    if (cls(a, b) != cls(b, a) || !wait_alike(in, a, b) || !wait_alike(out, a, b)) return false;
    for (std::size_t c = 0; c < devices; ++c)
      if (c != a && c != b && (cls(a, c) != cls(b, c) || cls(c, a) != cls(c, b))) return false;
    for (std::size_t op = 0; op < p.op_count(); ++op) {
      const std::size_t row = op * devices;
      if (p.op_time[row + a] != p.op_time[row + b] || possible[row + a] != possible[row + b]) return false;
    }
    return true;
  };
  std::vector<std::size_t> first(devices);
  for (std::size_t d = 0; d < devices; ++d) {
    first[d] = d;
    for (std::size_t c = 0; c < d; ++c)
      if (first[c] == c && alike(c, d)) {
        first[d] = c;
        break;
      }
  }
  return first;
}

std::int64_t speed_elsewhere(const Problem& p, const std::vector<std::uint8_t>& possible, std::size_t d) {
  const std::size_t devices = p.device_count();
  std::vector<Wide> speed(devices, 0);
  for (std::size_t op = 0; op < p.op_count(); ++op) {
    const std::size_t row = op * devices;
    Ticks least = never;
    for (std::size_t e = 0; e < devices; ++e)
      if (e != d && possible[row + e] != 0) least = std::min(least, p.op_time[row + e]);
    for (std::size_t e = 0; e < devices; ++e)
      if (e != d && possible[row + e] != 0)
        speed[e] =
            std::max(speed[e], (Wide{least} * JointRegion::speed_unit + p.op_time[row + e] - 1) / p.op_time[row + e]);
  }
  Wide sum = 0;
  for (const Wide each : speed) sum += each;
  return static_cast<std::int64_t>(std::max<Wide>(sum, 1));
}

}  // namespace emplace::search
