// Sends a tensor to the other devices and computes when it arrives at each consumer, for networks in which each route
// waits for at most one channel and nothing is deferred (network.hpp). Several routes may wait for the same channel,
// for example one channel for everything that a device sends. Then the order of destinations matters (R3), so consumers
// on several devices are not simply processed one after the other.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

class LineLinks {
 public:
  static constexpr bool may_defer = false;

  explicit LineLinks(const Layout& layout)
      : layout_(layout),
        free_(layout.problem.channels.size() + 1),
        arrival_(layout.network.devices),
        start_(layout.network.devices) {
    const Network& network = layout.network;
    // Routes that never wait have this line.
    const auto no_line = static_cast<std::uint32_t>(layout.problem.channels.size());
    for (std::size_t pair = 0; pair < network.line.size(); ++pair) {
      const std::int32_t line = network.line[pair];
      pairs_.push_back({line < 0 ? Ticks{0} : Ticks{-1}, network.column[pair],
                        line < 0 ? no_line : static_cast<std::uint32_t>(line)});
    }
  }

  void reset() { std::fill(free_.begin(), free_.end(), 0); }

  struct Pair {
    Ticks contended;  // all bits set, or none
    std::uint32_t column;
    std::uint32_t line;
  };
  // Pointers that the compiler can keep in registers during a run.
  struct Sender {
    OpState* ops;
    Ticks* send_start;
    const Edge* edges;
    const Ticks* transfer_time;
    std::size_t devices;
    const Pair* pairs;
    Ticks* free;
    Ticks *arrival, *start;  // of the tensor being sent, by destination

    // Calls arrive(consumer, its state, time) for every consumer of the op with state `s`, which ends at `now`.
    template <bool Record, class Arrive>
    void send(const OpState& s, Ticks now, Arrive&& arrive) const {
      for (std::uint32_t e = s.edge_begin; e != s.edge_end;) {
        std::uint32_t next = e + 1;
        while (next != s.edge_end && edges[next].tensor == edges[e].tensor) ++next;
        if (next == e + 1)
          send_to_one<Record>(e, s.device, now, arrive);
        else
          send_to_several<Record>(e, next, s.device, now, arrive);
        e = next;
      }
    }

   private:
    // The end of the transfer. On the own device and without contention it does not wait for a line.
    Ticks transfer(const Pair& pair, Ticks duration, Ticks now) const {
      return free[pair.line] = std::max(free[pair.line] & pair.contended, now) + duration;
    }

    template <bool Record, class Arrive>
    void send_to_one(std::uint32_t e, std::uint32_t from, Ticks now, Arrive&& arrive) const {
      OpState& consumer = ops[edges[e].consumer];
      const Pair pair = pairs[from * devices + consumer.device];
      const Ticks duration = transfer_time[edges[e].row + pair.column];
      const Ticks end = transfer(pair, duration, now);
      if constexpr (Record) send_start[e] = (end - duration) | -Ticks{consumer.device == from};
      arrive(edges[e].consumer, consumer, end);
    }

    template <bool Record, class Arrive>
    void send_to_several(std::uint32_t begin, std::uint32_t end, std::uint32_t from, Ticks now, Arrive&& arrive) const {
      std::array<std::uint64_t, (max_devices + 63) / 64> destinations{};
      for (std::uint32_t e = begin; e != end; ++e) {
        const std::uint32_t to = ops[edges[e].consumer].device;
        destinations[to / 64] |= std::uint64_t{1} << (to % 64);
      }
      destinations[from / 64] &= ~(std::uint64_t{1} << (from % 64));
      const Ticks* const row = transfer_time + edges[begin].row;
      for (std::uint32_t word = 0; word * 64 < devices; ++word)
        for (std::uint64_t bits = destinations[word]; bits != 0; bits &= bits - 1) {
          const std::uint32_t to = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
          const Pair pair = pairs[from * devices + to];
          arrival[to] = transfer(pair, row[pair.column], now);
          start[to] = arrival[to] - row[pair.column];
        }
      arrival[from] = now;
      start[from] = not_sent;
      for (std::uint32_t e = begin; e != end; ++e) {
        OpState& consumer = ops[edges[e].consumer];
        // The start is recorded at the first consumer on each device.
        if constexpr (Record) send_start[e] = std::exchange(start[consumer.device], not_sent);
        arrive(edges[e].consumer, consumer, arrival[consumer.device]);
      }
    }
  };
  Sender sender(Run& run) {
    return {run.ops.data(),
            run.send_start.data(),
            layout_.edges.data(),
            layout_.transfer_time.data(),
            layout_.network.devices,
            pairs_.data(),
            free_.data(),
            arrival_.data(),
            start_.data()};
  }

 private:
  const Layout& layout_;
  std::vector<Pair> pairs_;             // D x D
  std::vector<Ticks> free_;             // C + 1: end of the last transfer on each line
  std::vector<Ticks> arrival_, start_;  // D
};

}  // namespace emplace::simulate
