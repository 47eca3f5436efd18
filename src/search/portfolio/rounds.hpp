// How `best roles=classic` gives its budget to searches: in a fixed number of rounds with equal parts of it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "search/common/search_session.hpp"

namespace emplace::search {

// Runs the entries in batches of `width`, each batch with its share of the remaining budget.
void run_entries(SearchSession& session, std::span<const PortfolioEntry> entries, std::size_t width, double share);

// `first` run in the first round, before the searches. A search that gained less than a quarter of what the best of
// them gained in one round is left out of the next.
void run_rounds(SearchSession& session, std::vector<PortfolioEntry> first, std::vector<PortfolioEntry> searches,
                std::size_t width, std::int64_t rounds, std::uint64_t seed);

}  // namespace emplace::search
