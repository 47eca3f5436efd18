// Hill climbing on units of many sizes, from coarse to fine (multilevel refinement, Walshaw 2004). Coarse units move
// ops that exchange many bytes together, such as whole layers, where moving one op alone only makes the step longer.
// The first climb starts from the best of the quick placers; each later one from the best so far with some coarse units
// moved at random (iterated local search, Lourenco, Martin, Stuetzle 2003), with newly drawn units.
#include <algorithm>
#include <string>

#include "emplace/base/random.hpp"
#include "search/common/units.hpp"
#include "search/local/chains.hpp"
#include "search/local/level_climb.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct ClimbOptions {
  std::int64_t kicks = 3, coarsest = 32;
  std::string moves = "critical", begin = "descent";
  ChainOptions chains;
};

void describe(ClimbOptions& o, OptionVisitor& visit) {
  visit("kicks", o.kicks,
        {.min = 1, .max = 1'000'000, .help = "Largest number of units that are moved at random for a new start."});
  visit("coarsest", o.coarsest, {.min = 2, .max = 1'000'000'000, .help = "Number of units of the coarsest level."});
  visit("moves", o.moves,
        {.choices = {"critical", "all"},
         .help = "Which moves are tried: of units on the critical path, to devices of their neighbours and one random "
                 "device; or of all units to all devices."});
  visit("begin", o.begin,
        {.choices = {"descent", "kick"},
         .help = "What the search begins with: a descent from its start; or, for a start that such a descent has ended "
                 "with, random changes of it."});
  describe(o.chains, visit);
}

class Climber {
 public:
  Climber(const PlacerRequest& request, const ClimbOptions& options, const Grouping& units, SearchSession& session)
      : request_(request),
        options_(options),
        units_(units),
        session_(session),
        climb_(request, session, options.moves == "critical") {}

  void run() {
    const Problem& problem = *request_.problem;
    const auto coarsest = static_cast<std::size_t>(options_.coarsest);
    if (options_.begin == "descent") {
      const auto levels = levels_of(units_, coarsest, [&](const Grouping& finer) {
        if (session_.exhausted()) return finer;
        return coarsen(problem, finer, std::max(coarsest, finer.count() / shrink));
      });
      descend(levels, session_.placement(), 0);
    }
    for (std::uint64_t cycle = 1; !session_.exhausted(); ++cycle) {
      Placement start = session_.placement();
      Stream random = stream(cycle, 1);
      const std::size_t least = coarsest << (2 * random.below(sizes));
      const auto blocks = levels_of(units_, least, [&](const Grouping& finer) {
        if (session_.exhausted()) return finer;
        const auto level = static_cast<std::uint32_t>(finer.count());  // so that every level has its own random stream
        return coarsen_in_place(problem, finer, std::max(least, finer.count() / shrink), start.device,
                                stream(cycle, 2 + level));
      });
      if (cycle % cycles_with_kicks != 0) kick(start, blocks.front(), random);
      descend(blocks, std::move(start), cycle);
    }
  }

 private:
  static constexpr std::size_t shrink = 4;  // a unit has about as many units of the next finer level
  // The coarsest level of a cycle has one of this many sizes, each with four times the units of the one before.
  static constexpr std::uint32_t sizes = 5;
  // One cycle in this many moves no units at random, and only has newly drawn units.
  static constexpr std::uint64_t cycles_with_kicks = 8;

  [[nodiscard]] Stream stream(std::uint64_t cycle, std::uint32_t index) const {
    return Stream({.seed = request_.seed, .purpose = Purpose::search, .update = cycle, .index = index});
  }

  void kick(Placement& placement, const Grouping& units, Stream& random) const {
    const auto choices = device_choices(units);
    for (std::uint32_t k = 1 + random.below(static_cast<std::uint32_t>(options_.kicks)); k > 0; --k) {
      const std::uint32_t unit = random.below(static_cast<std::uint32_t>(units.count()));
      const std::uint8_t device = choices[unit][random.below(static_cast<std::uint32_t>(choices[unit].size()))];
      for (const std::uint32_t op : units.members[unit]) placement.device[op] = device;
    }
  }

  void descend(const std::vector<Grouping>& levels, Placement from, std::uint64_t cycle) {
    for (const Grouping& level : levels) {
      if (session_.exhausted()) return;
      from = climb_(level, from, request_.seed + cycle).placement;
    }
  }

  const PlacerRequest& request_;
  const ClimbOptions& options_;
  const Grouping& units_;
  SearchSession& session_;
  LevelClimb climb_;
};

PlacerResult place_climb(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<ClimbOptions>(table);
  return search_in_chains("climb", request, table, options.chains, [&](const Grouping& units, SearchSession& session) {
    Climber(request, options, units, session).run();
  });
}

}  // namespace

PlacerEntry climb_placer() {
  PlacerEntry entry;
  entry.name = "climb";
  entry.summary =
      "Hill climbing with units of many sizes, from the quick placers' best, then from random changes of the best.";
  entry.reference = "Walshaw (2004); Lourenco, Martin, Stuetzle (2003)";
  entry.role = PlacerRole::search;
  entry.options = list_options<ClimbOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.from_start = true;
  entry.place = place_climb;
  return entry;
}

}  // namespace emplace::search
