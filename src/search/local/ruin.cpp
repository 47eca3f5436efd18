// Ruin and recreate (Schrimpf, Schneider, Stamm-Wilbrandt, Dueck 2000; large neighbourhood search: Shaw 1998): a few
// units, most of them near the critical path, go to other devices, and hill climbing repairs that region alone. What is
// not worse is kept. Where on the path a region begins is learned while the search runs. A repair takes a small part of
// the time of a climb over all units, so that thousands of regions are tried where `climb` makes tens of descents; but
// it never moves large parts of the model.
#include <algorithm>

#include "emplace/base/random.hpp"
#include "search/common/shuffle.hpp"
#include "search/local/chains.hpp"
#include "search/local/region_start.hpp"
#include "search/local/ruined_region.hpp"
#include "search/local/unit_improver.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct RuinOptions {
  double limit = 0.03;
  std::int64_t sweeps = 3;
  double start_rate = 0.02;
  ChainOptions chains;
};

void describe(RuinOptions& o, OptionVisitor& visit) {
  visit(
      "limit", o.limit,
      {.min = 0,
       .max = 1000,
       .help = "Most regions are repaired only if their ruin made the step at most this much longer, as a share of the "
               "best step time."});
  visit("sweeps", o.sweeps, {.min = 1, .max = 1000, .help = "Passes of hill climbing over a region, at most."});
  visit(
      "start_rate", o.start_rate,
      {.min = 0,
       .max = 10,
       .help = "Learning rate of the policy that chooses the op of the critical path at which a region begins; 0: all "
               "are equally likely."});
  describe(o.chains, visit);
}

class RuinSearch {
 public:
  RuinSearch(const PlacerRequest& request, const RuinOptions& options, const Grouping& units, SearchSession& session)
      : options_(options),
        session_(session),
        neighbourhood_(*request.problem, units, request.schedule),
        budget_(neighbourhood_, session.evaluations_left(), session.seconds_left(), request.stop),
        random_({.seed = request.seed, .purpose = Purpose::search, .update = 0, .index = 3}),
        improver_(*request.problem, neighbourhood_, budget_, random_, true),
        regions_(*request.problem, units),
        start_(options.start_rate) {}

  void run() {
    if (session_.exhausted()) return;
    neighbourhood_.start(session_.placement());
    take();
    std::uint32_t without_change = 0;
    while (!spent() && !session_.exhausted() && without_change < most_without_change) {
      const bool on_path = !critical_.empty() && random_.below(anywhere) != 0;
      const auto path = on_path ? std::span(critical_).subspan(start_.draw(random_)) : std::span<std::uint32_t>();
      const std::size_t kind = choice_.draw(random_);
      Placement changed = best_;
      const auto region = regions_.ruin(changed, path, choice_.kind(kind), random_);
      without_change = region.empty() ? without_change + 1 : 0;
      if (region.empty()) continue;
      const bool helped = recreate(changed, {region.begin(), region.end()});
      choice_.report(kind, helped);
      if (on_path) start_.report(helped);
    }
  }

 private:
  // Draws in a row without a change, after which there is no unit that can move.
  static constexpr std::uint32_t most_without_change = 10'000;
  // One region in this many does not begin on the critical path.
  static constexpr std::uint32_t anywhere = 4;
  // One region in this many is repaired however long its ruin made the step.
  static constexpr std::uint32_t repaired_at_any_price = 8;

  [[nodiscard]] bool spent() {
    session_.searched(neighbourhood_.evaluations());
    return budget_.spent();
  }

  // The current placement becomes the best one.
  void take() {
    best_outcome_ = neighbourhood_.outcome();
    critical_.clear();  // of an infeasible placement any unit may be the reason
    if (best_outcome_.feasible()) {
      const CriticalChoices& choices = neighbourhood_.critical();
      critical_ = choices.ops;
      start_.set_path(choices.times);
    }
    best_ = neighbourhood_.placement();
  }

  // Repairs the region of a ruined placement. Returns whether there is a new best placement.
  bool recreate(const Placement& ruined, std::vector<std::uint32_t> region) {
    if (neighbourhood_.start(ruined); is_hopeless() && random_.below(repaired_at_any_price) != 0) return false;
    for (std::int64_t sweep = 0; sweep < options_.sweeps && sweep_over(region); ++sweep) {
    }
    const Outcome found = neighbourhood_.outcome();
    if (better(best_outcome_, found)) return false;
    const bool helped = better(found, best_outcome_);
    take();
    session_.searched(neighbourhood_.evaluations());
    session_.offer(best_, best_outcome_);
    return helped;
  }

  [[nodiscard]] bool is_hopeless() const {
    if (!best_outcome_.feasible()) return false;
    const Outcome& now = neighbourhood_.outcome();
    return !now.feasible() ||
           static_cast<double>(now.makespan) > (1 + options_.limit) * static_cast<double>(best_outcome_.makespan);
  }

  // Returns whether anything moved.
  bool sweep_over(std::vector<std::uint32_t>& region) {
    shuffle(region, random_);
    bool moved = false;
    for (const std::uint32_t unit : region) {
      if (spent()) return false;
      moved |= improver_.improve(unit);
    }
    return moved;
  }

  const RuinOptions& options_;
  SearchSession& session_;
  Neighbourhood neighbourhood_;
  MoveBudget budget_;
  Stream random_;
  UnitImprover improver_;
  RegionRuin regions_;
  RegionStart start_;
  RuinChoice choice_;
  Placement best_;
  Outcome best_outcome_;
  std::vector<std::uint32_t> critical_;  // ops of the best placement's critical path
};

PlacerResult place_ruin(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<RuinOptions>(table);
  return search_in_chains("ruin", request, table, options.chains, [&](const Grouping& units, SearchSession& session) {
    RuinSearch(request, options, units, session).run();
  });
}

}  // namespace

PlacerEntry ruin_placer() {
  PlacerEntry entry;
  entry.name = "ruin";
  entry.summary =
      "Moves small regions at random, most of them on the critical path, and repairs them by hill climbing.";
  entry.reference = "Schrimpf et al. (2000); Shaw (1998); Ropke, Pisinger (2006)";
  entry.role = PlacerRole::search;
  entry.options = list_options<RuinOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.from_start = true;
  entry.place = place_ruin;
  return entry;
}

}  // namespace emplace::search
