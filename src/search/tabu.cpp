// Tabu search (Glover 1986): of some random moves the best guess is made even if it is worse; the unit then rests for a
// while, unless moving it again gives the best placement of all.
#include <algorithm>

#include "emplace/problem/grouping.hpp"
#include "incumbent.hpp"
#include "methods.hpp"
#include "moves.hpp"

namespace emplace {

namespace {

struct TabuOptions {
  std::int64_t width = 32, tenure = 20, patience = 500, moves_per_unit = 200;
};

void describe(TabuOptions& o, OptionVisitor& visit) {
  visit("width", o.width, {.min = 1, .max = 1'000'000, .help = "Moves guessed before one is made."});
  visit("tenure", o.tenure, {.min = 0, .max = 1'000'000, .help = "Moves for which a moved unit rests, at least."});
  visit("patience", o.patience,
        {.min = 1, .max = 1'000'000'000, .help = "Moves without a new best after which the search goes back to it."});
  visit("moves_per_unit", o.moves_per_unit,
        {.min = 1, .max = 1'000'000'000, .help = "Moves guessed where there is no budget of evaluations or seconds."});
}

class TabuSearch {
 public:
  TabuSearch(const PlacerRequest& request, const TabuOptions& options, const Grouping& units, Incumbent& incumbent)
      : options_(options),
        incumbent_(incumbent),
        neighbourhood_(*request.problem, units, request.schedule),
        moves_(units),
        rests_until_(units.count(), 0),
        random_({.seed = request.seed, .purpose = Purpose::search}) {}

  void run() {
    if (!moves_.any() || incumbent_.exhausted()) return;
    neighbourhood_.start(incumbent_.placement());
    count();
    std::int64_t last_gain = 0;
    for (std::int64_t now = 0; !incumbent_.exhausted(); ++now) {
      if (now - last_gain > options_.patience) {
        neighbourhood_.start(incumbent_.placement());
        count();
        last_gain = now;
        continue;
      }
      const auto move = best_guess(now);
      if (!move || incumbent_.exhausted()) continue;
      const Outcome exact = neighbourhood_.check(move->unit, move->device);
      count();
      rests_until_[move->unit] = now + options_.tenure + random_.below(static_cast<std::uint32_t>(options_.tenure) + 1);
      if (neighbourhood_.outcome().feasible() && !exact.feasible()) continue;
      neighbourhood_.accept();
      if (better(exact, incumbent_.outcome())) last_gain = now;
      incumbent_.offer(neighbourhood_.placement(), exact);
    }
  }

 private:
  // Of the moves drawn, among those of units that do not rest or that lead to a new best.
  std::optional<Move> best_guess(std::int64_t now) {
    std::optional<Move> best;
    Outcome best_outcome;
    for (std::int64_t i = 0; i < options_.width && !incumbent_.exhausted(); ++i) {
      const Move move = moves_.draw(neighbourhood_, random_);
      const Outcome guess = neighbourhood_.guess(move.unit, move.device);
      count();
      // Guesses do not know of memory: beside a best that does not fit, they all look like a new best.
      const bool is_new_best = incumbent_.outcome().feasible() && better(guess, incumbent_.outcome());
      if (rests_until_[move.unit] > now && !is_new_best) continue;
      if (best && !better(guess, best_outcome)) continue;
      best = move;
      best_outcome = guess;
    }
    return best;
  }

  void count() { incumbent_.searched(neighbourhood_.evaluations()); }

  const TabuOptions& options_;
  Incumbent& incumbent_;
  Neighbourhood neighbourhood_;
  Moves moves_;
  std::vector<std::int64_t> rests_until_;  // U
  Stream random_;
};

PlacerResult place_tabu(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<TabuOptions>(table);
  const Grouping units = make_grouping(*request.problem, GroupingKind::colocation);
  Incumbent incumbent(request, static_cast<std::uint64_t>(options.moves_per_unit) * units.count());
  incumbent.begin();
  TabuSearch(request, options, units, incumbent).run();
  return incumbent.result();
}

}  // namespace

PlacerEntry tabu_placer() {
  PlacerEntry entry;
  entry.name = "tabu";
  entry.summary = "Tabu search over moves of one unit, from the best of the quick placers.";
  entry.reference = "Glover (1986)";
  entry.role = PlacerRole::search;
  entry.options = list_options<TabuOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.place = place_tabu;
  return entry;
}

}  // namespace emplace
