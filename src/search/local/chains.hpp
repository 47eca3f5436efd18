// Searches that begin at one placement and make moves: some of them side by side, with seeds of their own, of which the
// best counts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "emplace/problem/grouping.hpp"
#include "search/common/search_session.hpp"

namespace emplace::search {

// What all of them can be told; part of their options.
struct ChainOptions {
  std::int64_t chains = 4, moves_per_unit = 200;
};
void describe(ChainOptions& o, OptionVisitor& visit);

using Chain = std::function<void(const Grouping& units, SearchSession& session)>;

// Runs `chain` on units that keep co-location groups together: here where one is wanted, else as jobs of the entry
// `method` with the options of `table`.
PlacerResult search_in_chains(const std::string& method, const PlacerRequest& request, const ConfigTable& table,
                              const ChainOptions& options, const Chain& chain);

// The seed of the index-th of several searches side by side; the first keeps the given one.
std::uint64_t seed_of_chain(std::uint64_t seed, std::size_t index);

}  // namespace emplace::search
