// The dual of the combined linear program (assignment, load, precedence, memory), and the bound that its multipliers
// prove.
//
// The program, of a unit's share x[u,d] on each device, ops' starts s[v] and the makespan C:
//   (load)    C >= sum of time(u,d) x[u,d]                                  for each device d
//   (arc)     s[v] >= s[u] + time of u + sum over d of t[e,d] g[e,d]        for each arc e = (u, v)
//   (move)    g[e,d] >= x[v,d] - x[u,d]                                     for each arc and device
//   (head)    s[v] >= sum over d of head(v,d) x[v,d]                        for each op
//   (tail)    C >= s[v] + sum over d of (time(v,d) + tail(v,d)) x[v,d]      for each op
//   (memory)  sum of resident(u) x[u,d] <= memory(d)                        for each device with a limit
//   each unit's shares sum to 1
// where t[e,d] is the quickest transfer into d of the longest tensor of e, and heads and tails are those of
// earliest.hpp. Every feasible schedule fulfils it: g = 1 where v is on d and u is not.
#pragma once

#include <cstdint>
#include <vector>

#include "search/bounds/load_weights.hpp"
#include "search/exact/step_arcs.hpp"

namespace emplace::search {

// Dual multipliers. They may be any numbers: negative ones count as 0, and dual_certificate() corrects them so that the
// equations of the dual hold.
struct Multipliers {
  std::vector<double> load;    // D
  std::vector<double> memory;  // D, per byte
  std::vector<double> arc;     // E
  std::vector<double> move;    // E x D
  std::vector<double> tail;    // N
};

// The bound that they prove, computed in integers (weak duality), with multipliers in units of 2^-32. For every op the
// multipliers of its arcs in and its head must sum to those of its arcs out and its tail; a difference is added to the
// tail if the arcs in sum to more, else to the head. Then with K = sum of load + tail multipliers, C and the starts
// cancel, and
//   K x C >= sum over units of min over d of cost(u,d) - sum over d of memory multiplier x memory(d),
//   cost(u,d) = load(d) time(u,d) + memory multiplier(d) resident(u) + sum over ops v of u of
//     out(v) time(v,d) + tail multiplier(v) (time(v,d) + tail(v,d)) + head multiplier(v) head(v,d)
//     + sum over arcs into v of move(e,d) - sum over arcs out of v of move(e,d),   0 <= move(e,d) <= arc(e) t[e,d].
Ticks dual_certificate(const StepArcs& arcs, const Multipliers& multipliers);

}  // namespace emplace::search
