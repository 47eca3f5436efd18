// Orders of unlike devices, of which equal ones are not exchanged.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/chain.hpp"

namespace emplace::fit {

struct Orders {
  std::vector<std::vector<std::uint8_t>> list;
  bool all = false;  // that differ
};
// `devices` in all orders that differ, if these are at most `most`; else some: as given, by speed and by memory, both
// ways.
[[nodiscard]] Orders orders_of(const Chain& chain, const std::vector<std::uint8_t>& devices, std::size_t most);

}  // namespace emplace::fit
