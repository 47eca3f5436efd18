// Chooses the consumer that should follow an op on its device: the rounded solution of the relaxation of scheduling
// with small communication times (Hanen, Munier 1995; Baechi, section 3.3).
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "search/list/mean_costs.hpp"

namespace emplace::search {

struct Favourites {
  std::vector<std::uint32_t> consumer;  // N; the number of ops: none. No op is the favourite of two ops
  bool relaxed = false;                 // true: by the linear program; false: by the costliest transfer
};

// The linear program: x of an edge is 0 if its ops stay together, and 1 if its full transfer time is counted. At most
// one edge into and one out of each op may have x = 0; an op starts after its producers' ends plus x times the
// transfers; the last end is minimised. The consumer of an edge with x < 1/2 is the producer's favourite.
//
// With more than `most_edges` edges it would take too long. Then an op's favourite is the consumer of its costliest
// output, if that is also the consumer's costliest input.
Favourites favourite_children(const Problem& problem, const MeanCosts& costs, std::size_t most_edges);

}  // namespace emplace::search
