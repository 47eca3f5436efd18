// Sends a tensor to the other devices and computes when it arrives at each consumer. There are two forms: with one free
// time per pair of devices, if no channel serves two routes, and the general one.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "simulate/exact/layout.hpp"

namespace emplace::simulate {

// No channel with contention serves two routes, so nothing is deferred, the order of destinations does not matter, and
// consumers can be processed one by one without branches. For a second consumer on a device the copy is already sent.
class PrivateLinks {
 public:
  static constexpr bool may_defer = false;

  explicit PrivateLinks(const Layout& layout) : layout_(layout), pairs_(layout.network.column.size()) {
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair)
      pairs_[pair] = {0, layout.network.contended[pair].empty() ? Ticks{0} : Ticks{-1}, layout.network.column[pair],
                      TensorId::none_value};
  }

  void reset() {
    for (Pair& pair : pairs_) {
      pair.free = 0;
      pair.sent = TensorId::none_value;
    }
  }

  struct alignas(32) Pair {
    Ticks free;
    Ticks contended;  // all bits set, or none
    std::uint32_t column;
    std::uint32_t sent;  // the last tensor that was sent
  };
  // Pointers that the compiler can keep in registers during a run.
  struct Sender {
    OpState* ops;
    Ticks* send_start;
    const Edge* edges;
    const Ticks* transfer_time;
    std::size_t devices;
    Pair* pairs;

    // Calls arrive(consumer, its state, time) for every consumer of the op with state `s`, which ends at `now`.
    template <bool Record, class Arrive>
    void send(const OpState& s, Ticks now, Arrive&& arrive) const {
      Pair* const row = pairs + s.device * devices;
      for (std::uint32_t e = s.edge_begin; e != s.edge_end; ++e) {
        const Edge edge = edges[e];
        OpState& consumer = ops[edge.consumer];
        const std::uint32_t to = consumer.device;
        Pair& pair = row[to];
        const Ticks again = -Ticks{pair.sent == edge.tensor};  // all bits set, or none
        pair.sent = edge.tensor;
        const Ticks duration = transfer_time[edge.row + pair.column];
        // With contention the copy starts after all earlier transfers of the pair, or arrives with the tensor's own
        // earlier transfer if there is one. Without contention it starts at once.
        const Ticks arrival = std::max(pair.free & pair.contended, now) + (duration & ~(again & pair.contended));
        pair.free = arrival;
        if constexpr (Record) send_start[e] = (arrival - duration) | again | -Ticks{to == s.device};
        arrive(edge.consumer, consumer, arrival);
      }
    }
  };
  Sender sender(Run& run) {
    return {run.ops.data(),          run.send_start.data(), layout_.edges.data(), layout_.transfer_time.data(),
            layout_.network.devices, pairs_.data()};
  }

 private:
  const Layout& layout_;
  std::vector<Pair> pairs_;  // D x D
};

// For any routes. send() leaves out deferred sends; send_deferred() makes them, and must be called in the order (time,
// tensor), once the simulation has reached the op's end.
class GeneralLinks {
 public:
  static constexpr bool may_defer = true;

  explicit GeneralLinks(const Layout& layout)
      : layout_(layout),
        free_(layout.problem.channels.size()),
        arrival_(layout.network.devices),
        start_(layout.network.devices) {}

  void reset() { std::fill(free_.begin(), free_.end(), 0); }

  // Calls defer(tensor) for each tensor of which some sends must wait until `now` is reached.
  template <bool Record, class Arrive, class Defer>
  void send(Run& run, const OpState& s, Ticks now, Arrive&& arrive, Defer&& defer) {
    for (std::uint32_t edge = s.edge_begin; edge != s.edge_end;) {
      const std::uint32_t tensor = layout_.edges[edge].tensor;
      const std::uint32_t next = layout_.edges_end(tensor);
      if (send_some<Record, false>(run, tensor, edge, next, s.device, now, arrive)) defer(tensor);
      edge = next;
    }
  }

  template <bool Record, class Arrive>
  void send_deferred(Run& run, std::uint32_t tensor, Arrive&& arrive) {
    const OpState& s = run.ops[layout_.problem.producer[tensor].index()];
    send_some<Record, true>(run, tensor, layout_.tensor_edge[tensor], layout_.edges_end(tensor), s.device, s.end(),
                            arrive);
  }

 private:
  // Makes the sends that are deferred, or those that are not; returns true if some were left out.
  template <bool Record, bool Deferred, class Arrive>
  bool send_some(Run& run, std::uint32_t tensor, std::uint32_t begin, std::uint32_t end, std::uint32_t from, Ticks now,
                 Arrive&& arrive) {
    const Network& network = layout_.network;
    const std::size_t row = from * network.devices;
    std::array<std::uint64_t, (max_devices + 63) / 64> destinations{};
    for (std::uint32_t edge = begin; edge != end; ++edge) {
      const std::uint32_t to = run.ops[layout_.edges[edge].consumer].device;
      destinations[to / 64] |= std::uint64_t{1} << (to % 64);
    }
    destinations[from / 64] &= ~(std::uint64_t{1} << (from % 64));
    bool left = false;
    for (std::uint32_t word = 0; word * 64 < network.devices; ++word)
      for (std::uint64_t bits = destinations[word]; bits != 0; bits &= bits - 1) {
        const std::uint32_t to = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
        if ((network.deferred[row + to] != 0) != Deferred) {
          left = true;
          continue;
        }
        Ticks start = now;
        for (const std::uint32_t channel : network.contended[row + to]) start = std::max(start, free_[channel]);
        arrival_[to] = start + layout_.transfers_of(tensor)[network.column[row + to]];
        for (const std::uint32_t channel : network.contended[row + to]) free_[channel] = arrival_[to];
        start_[to] = start;
      }
    arrival_[from] = now;
    start_[from] = not_sent;
    for (std::uint32_t edge = begin; edge != end; ++edge) {
      const std::uint32_t consumer = layout_.edges[edge].consumer;
      OpState& state = run.ops[consumer];
      if ((network.deferred[row + state.device] != 0) != Deferred) continue;
      arrive(consumer, state, arrival_[state.device]);
      if constexpr (Record) run.send_start[edge] = std::exchange(start_[state.device], not_sent);
    }
    return left;
  }

  const Layout& layout_;
  std::vector<Ticks> free_;  // C: end of the last transfer on each channel
  // D each, of the tensor being sent; the start is recorded at the first consumer.
  std::vector<Ticks> arrival_, start_;
};

}  // namespace emplace::simulate
