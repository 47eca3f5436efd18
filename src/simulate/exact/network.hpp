// Properties of a Problem's routes that make transfer times known ahead of time, computed once.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::simulate {

// Channels serve transfers in the order (request time, tensor id, destination), so a transfer starts at the latest of
// its request and the ends of the transfers before it on every channel of its route: its times are known as soon as all
// transfers before it in that order are. If only one device sends over a channel, the requests come in the order in
// which that device runs its ops, so a transfer's times are known when the op's end is known. If several devices send
// over a channel, the engine must wait until the simulation has reached the op's end; such routes are called deferred.
struct Network {
  explicit Network(const Problem& problem);

  std::size_t devices;
  bool complete;       // every ordered pair of devices has a route
  bool private_pairs;  // no route waits for another one's transfers: one free time per pair is enough
  bool one_line;  // nothing is deferred, each route waits for at most one channel: one free time per line is enough
  bool any_deferred;
  // D x D each.
  std::vector<std::uint8_t> deferred;
  std::vector<std::uint32_t> column;  // 0 on the diagonal and without a route, else 1 + route class
  Lists contended;                    // the channels of the route that can make a transfer wait
  std::vector<std::int32_t> line;     // with one_line: the channel that the route waits for, or -1

 private:
  void find_lines(std::size_t channels);
};

}  // namespace emplace::simulate
