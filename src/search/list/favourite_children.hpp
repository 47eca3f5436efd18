// Which consumer an op should have behind it on its device: the relaxation of scheduling with small communication times
// (Hanen, Munier 1995; Baechi, section 3.3), rounded.
#pragma once

#include <cstdint>
#include <vector>

#include "emplace/problem/problem.hpp"
#include "search/list/mean_costs.hpp"

namespace emplace::search {

struct Favourites {
  std::vector<std::uint32_t> consumer;  // N; the number of ops: none. No op is the favourite of two
  bool relaxed = false;                 // by the linear program; else by the costliest transfer
};

// The linear program: x of an edge is 0 where its ends stay together, 1 where its transfer is paid in full; at most one
// edge into and one out of each op stays together; ops start after their producers' ends and what is paid; the last end
// is smallest. Edges with x < 1/2 join favourites.
//
// Beyond `most_edges` edges, where it would take long, an op's favourite is the consumer of its costliest output
// instead, as far as each is the other's costliest.
Favourites favourite_children(const Problem& problem, const MeanCosts& costs, std::size_t most_edges);

}  // namespace emplace::search
