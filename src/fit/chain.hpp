// What the planner sees of a language model on a machine: the units that a token passes one after the other, with
// their bytes and their times on each device. Experts are beside the chain: the feed-forward unit before them sends
// tokens to them and waits for their results.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emplace/base/types.hpp"
#include "emplace/problem/problem.hpp"

namespace emplace::fit {

enum class UnitKind : std::uint8_t { input, attention, feed_forward, experts, output, layer };
[[nodiscard]] const char* name_of(UnitKind kind);

struct Unit {
  std::string name;  // as in the graph: "blk.3.attention"
  UnitKind kind = UnitKind::layer;
  std::int64_t layer = -1;  // of input and output: -1
  Bytes weights = 0, cache = 0, buffers = 0;

  [[nodiscard]] Bytes bytes() const { return weights + cache + buffers; }
};

// U units and D devices. Experts come directly after their feed-forward unit.
struct Chain {
  std::vector<std::string> devices;
  std::vector<Bytes> room;  // D: for units; no_memory_limit: any number of bytes
  std::vector<Unit> units;
  std::vector<Ticks> time;  // U x D; cannot_run
  // U x D x D: until the unit has its input, from the device of the unit before it (of experts: of their feed-forward
  // unit) to its own; 0 on one device, cannot_run without a route.
  std::vector<Ticks> to;
  std::vector<Ticks> back;    // U x D x D: from the experts to their feed-forward unit; 0 for other units
  std::vector<Ticks> beside;  // U x D: the part of a feed-forward unit's time that does not wait for its experts

  [[nodiscard]] std::size_t size() const { return units.size(); }
  [[nodiscard]] std::size_t device_count() const { return devices.size(); }
  [[nodiscard]] bool is_experts(std::size_t u) const { return units[u].kind == UnitKind::experts; }
  [[nodiscard]] bool has_experts(std::size_t u) const { return u + 1 < size() && is_experts(u + 1); }
  [[nodiscard]] Ticks time_on(std::size_t u, std::size_t d) const { return time[u * devices.size() + d]; }
  [[nodiscard]] Ticks hop(std::size_t u, std::size_t from, std::size_t d) const {
    return to[(u * devices.size() + from) * devices.size() + d];
  }
  [[nodiscard]] Ticks hop_back(std::size_t u, std::size_t d, std::size_t to_device) const {
    return back[(u * devices.size() + d) * devices.size() + to_device];
  }
  // The unit on the chain before u (of experts: their feed-forward unit); size() for the first.
  [[nodiscard]] std::size_t before(std::size_t u) const;
  // The unit on the chain after u, which is not of experts; size() for the last.
  [[nodiscard]] std::size_t after(std::size_t u) const { return has_experts(u) ? u + 2 : u + 1; }

  // Time of unit u on device a, its experts on b included if it has any (without them b is not used); cannot_run.
  [[nodiscard]] Ticks node_time(std::size_t u, std::size_t a, std::size_t b) const;
};

// A device for each unit.
using Assignment = std::vector<std::uint8_t>;

// Time of a token that passes all units; cannot_run if a unit or a route is missing.
[[nodiscard]] Ticks latency(const Chain& chain, const Assignment& assignment);
// D: bytes of the units of each device.
[[nodiscard]] std::vector<Bytes> held(const Chain& chain, const Assignment& assignment);
// D: time of the units of each device, and of what it sends and receives unless it is `exempt` (the host's memory).
[[nodiscard]] std::vector<Ticks> loads(const Chain& chain, const Assignment& assignment,
                                       const std::vector<std::uint8_t>& exempt);
[[nodiscard]] bool has_room(const Chain& chain, const std::vector<Bytes>& held);

// Which assignments a runtime can run.
struct Space {
  std::vector<std::uint8_t> allowed;  // U x D
  // U: units whose devices must follow each other in one order of the devices, each in one piece. Not of experts.
  std::vector<std::uint8_t> ordered;

  [[nodiscard]] bool is_ordered() const;
};
// Everything is allowed.
[[nodiscard]] Space free_space(const Chain& chain);
// Whether the assignment is in the space for this order, which has each device at most once.
[[nodiscard]] bool contains(const Chain& chain, const Space& space, const std::vector<std::uint8_t>& order,
                            const Assignment& assignment);

// Units that always move together become one. `group` of each unit: ascending from 0 in steps of at most 1; experts are
// either with their feed-forward unit or alone.
struct Merged {
  Chain chain;
  std::vector<std::size_t> group;  // of each unit of the original

  [[nodiscard]] Assignment expand(const Assignment& merged) const;
};
[[nodiscard]] Merged merge(const Chain& chain, const std::vector<std::size_t>& group);

}  // namespace emplace::fit
