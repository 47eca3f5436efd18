// Placements that every result is compared with: one device, the human expert's, the best of the quick placers; and a
// lower bound. They take seconds at most, so that no command ends without them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"

namespace emplace::verdict {

struct Reference {
  std::string method;  // the placer
  Placement placement;
  Outcome outcome;
};

struct References {
  std::optional<Reference> single;  // the fastest device alone; none if no device can run everything
  std::string single_device;        // its name: the device with most ops of that placement
  std::optional<Reference> expert;  // none if the problem has no expert's placement, or it is not feasible
  bool tried_every_device = true;   // `single` had enough evaluations for all devices
  // The best feasible placement of the quick placers, `single` and `expert` included; and of others that the caller
  // ran.
  std::optional<Reference> quick;
  search::LowerBound bound;
  bool is_quick_bound = true;     // `bound` is one that needs no search; `emplace bound` may prove a larger one
  std::uint64_t evaluations = 0;  // placements that were simulated to find them
};

// How long the quick placers besides `single` and `expert` may take.
struct QuickTime {
  double predicted = 0.5;  // seconds, by predicted_time(): so their choice does not depend on the machine
  double most = 2;         // seconds that they really take; may be infinite
};

// The feasible placements of the quick placers, in the order in which they ran: `single` and `expert`, then the others,
// those that take least time first, as far as the time and the evaluations allow.
struct QuickReferences {
  std::vector<Reference> found;
  std::uint64_t evaluations = 0;  // placements that were simulated to find them
};
// `request` says the problem, the evaluator and how placements are scored; of its budgets, only that of evaluations is
// used, for all placers together. Does not depend on the clock if `time.most` is infinite.
QuickReferences quick_references(const search::PlacerRequest& request, const QuickTime& time = {});

// Runs `single` (at most 4 million ops / ops of the problem devices, those with the least total time first) and
// `expert`, and then the other quick placers, those that take least time first, as far as the time allows. `request`
// says the problem, the evaluator and how placements are scored; its budgets are not used. Infeasible placements are
// left out.
References find_references(const search::PlacerRequest& request, const QuickTime& time = {});

}  // namespace emplace::verdict
