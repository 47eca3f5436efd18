// Hill climbing from many starts: the best of the quick placers first, then the best so far with some of its units
// moved at random (iterated local search, Lourenco, Martin, Stuetzle 2003).
#include <algorithm>

#include "chains.hpp"
#include "emplace/base/random.hpp"
#include "emplace/search/local_search.hpp"
#include "methods.hpp"
#include "units.hpp"

namespace emplace {

namespace {

struct ClimbOptions {
  double kick = 0.02;
  ChainOptions chains;
};

void describe(ClimbOptions& o, OptionVisitor& visit) {
  visit("kick", o.kick, {.min = 0, .max = 1, .help = "Share of the units that a new start moves (at least one)."});
  describe(o.chains, visit);
}

Placement kicked(Placement placement, const Grouping& units, const std::vector<std::vector<std::uint8_t>>& choices,
                 double share, Stream& random) {
  const auto count = static_cast<std::uint32_t>(units.count());
  const auto kicks = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(share * count));
  for (std::uint32_t k = 0; k < kicks; ++k) {
    const std::uint32_t unit = random.below(count);
    const std::uint8_t device = choices[unit][random.below(static_cast<std::uint32_t>(choices[unit].size()))];
    for (const std::uint32_t op : units.members[unit]) placement.device[op] = device;
  }
  return placement;
}

void climb(const PlacerRequest& request, const ClimbOptions& options, const Grouping& units, Incumbent& incumbent) {
  const auto choices = device_choices(units);
  std::uint64_t made = 0;
  for (std::uint64_t start = 0; !incumbent.exhausted(); ++start) {
    Stream random({.seed = request.seed, .purpose = Purpose::search, .update = start, .index = 1});
    const Placement from =
        start == 0 ? incumbent.placement() : kicked(incumbent.placement(), units, choices, options.kick, random);
    const LocalSearchResult found =
        local_search(*request.problem, units, request.schedule, from,
                     {request.seed + start, incumbent.evaluations_left(), incumbent.seconds_left(), request.stop});
    incumbent.searched(made += found.guesses + found.checks);
    incumbent.offer(found.placement, found.outcome);
  }
}

PlacerResult place_climb(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<ClimbOptions>(table);
  return search_in_chains("climb", request, table, options.chains, [&](const Grouping& units, Incumbent& incumbent) {
    climb(request, options, units, incumbent);
  });
}

}  // namespace

PlacerEntry climb_placer() {
  PlacerEntry entry;
  entry.name = "climb";
  entry.summary = "Hill climbing over moves of one unit, from the quick placers' best and then from kicks of it.";
  entry.reference = "Lourenco, Martin, Stuetzle (2003)";
  entry.role = PlacerRole::search;
  entry.options = list_options<ClimbOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.place = place_climb;
  return entry;
}

}  // namespace emplace
