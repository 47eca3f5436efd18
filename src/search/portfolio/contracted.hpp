// Which joins of small ops pay for a search.
#pragma once

#include "problem/contract.hpp"

namespace emplace::search {

// Of the work of all ops: what joined ops may have at most.
inline constexpr double joined_share = 0.00005;
// With fewer than this share of the ops, the smaller problem leaves too little to choose.
inline constexpr double least_left = 0.24;

// Where joins leave at most half of the ops, as in a framework's graph.
[[nodiscard]] bool joins_pay(const Problem& problem);

}  // namespace emplace::search
