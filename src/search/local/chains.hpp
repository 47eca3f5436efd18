// Searches that begin at one placement and make moves. Several run in parallel with different seeds, and the best
// result is returned.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "emplace/problem/grouping.hpp"
#include "search/common/search_session.hpp"

namespace emplace::search {

// The options that all of them have.
struct ChainOptions {
  std::int64_t chains = 4, moves_per_unit = 200;
};
void describe(ChainOptions& o, OptionVisitor& visit);

using Chain = std::function<void(const Grouping& units, SearchSession& session)>;

// Runs `chain` on units that keep co-location groups together: directly if only one search is wanted, else as jobs of
// the entry `method` with the options of `table`.
PlacerResult search_in_chains(const std::string& method, const PlacerRequest& request, const ConfigTable& table,
                              const ChainOptions& options, const Chain& chain);

// The seed of the index-th of several parallel searches; the first has the given seed.
std::uint64_t seed_of_chain(std::uint64_t seed, std::size_t index);

}  // namespace emplace::search
