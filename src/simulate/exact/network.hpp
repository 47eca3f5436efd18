// What a Problem's routes allow an engine to know ahead of time, resolved once.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::simulate {

// Channels keep their lines in the order (request time, tensor id, destination), so a transfer starts at the latest of
// its request and the ends of the transfers before it on every channel of its route: its times are known as soon as its
// turn in that order has come. A channel fed by one device sees that device's ops in the order in which they run, so
// there the turn has come when the op's end is known. Where several devices feed a channel the engine must wait until
// the op's end has been reached; such routes are called deferred.
struct Network {
  explicit Network(const Problem& problem);

  std::size_t devices;
  bool complete;       // every ordered pair of devices has a route
  bool private_pairs;  // no route waits for what another one sends: a free time a pair says it all
  bool one_line;  // nothing is deferred, and each route waits for one channel at most: a free time a line says it all
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
