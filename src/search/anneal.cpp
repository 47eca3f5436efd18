// Simulated annealing (Kirkpatrick et al. 1983) over moves of one unit: guessed on the incremental engine, checked
// exactly before they are made. The temperature falls geometrically over the budget.
#include <algorithm>
#include <cmath>

#include "emplace/problem/grouping.hpp"
#include "incumbent.hpp"
#include "methods.hpp"
#include "moves.hpp"

namespace emplace {

namespace {

struct AnnealOptions {
  double hottest = 0.3, coldest = 1e-3;
  std::int64_t moves_per_unit = 200;
};

void describe(AnnealOptions& o, OptionVisitor& visit) {
  visit("hottest", o.hottest,
        {.min = 1e-9,
         .max = 1e9,
         .help = "First temperature, in mean losses of the moves from the start that make it slower."});
  visit("coldest", o.coldest, {.min = 1e-9, .max = 1e9, .help = "Last temperature, likewise."});
  visit("moves_per_unit", o.moves_per_unit,
        {.min = 1, .max = 1'000'000'000, .help = "Moves tried where there is no budget of evaluations or seconds."});
}

class Annealing {
 public:
  Annealing(const PlacerRequest& request, const AnnealOptions& options, const Grouping& units, Incumbent& incumbent)
      : options_(options),
        incumbent_(incumbent),
        neighbourhood_(*request.problem, units, request.schedule),
        moves_(units),
        random_({.seed = request.seed, .purpose = Purpose::search}) {}

  void run() {
    if (!moves_.any() || incumbent_.exhausted()) return;
    neighbourhood_.start(incumbent_.placement());
    count();
    measure_losses();
    while (!incumbent_.exhausted()) {
      const Move move = moves_.draw(neighbourhood_, random_);
      const double threshold =
          random_.uniform();  // drawn for every move, so that the stream does not depend on guesses
      const bool promising = is_taken(neighbourhood_.guess(move.unit, move.device), threshold);
      count();
      if (!promising || incumbent_.exhausted()) continue;
      const Outcome exact = neighbourhood_.check(move.unit, move.device);
      count();
      if (!is_taken(exact, threshold)) continue;
      neighbourhood_.accept();
      incumbent_.offer(neighbourhood_.placement(), exact);
    }
  }

 private:
  [[nodiscard]] bool is_taken(const Outcome& outcome, double threshold) const {
    const Outcome& now = neighbourhood_.outcome();
    if (better(outcome, now)) return true;
    if (!outcome.feasible() || !now.feasible()) return false;
    const double temperature =
        options_.hottest * std::pow(options_.coldest / options_.hottest, incumbent_.progress()) * scale_;
    return std::exp(static_cast<double>(now.makespan - outcome.makespan) / temperature) > threshold;
  }

  // The scale of temperatures: what a move costs that makes the step slower, over some moves from the start.
  void measure_losses() {
    constexpr int moves = 100;
    double sum = 0;
    int slower = 0;
    for (int i = 0; i < moves && !incumbent_.exhausted(); ++i) {
      const Move move = moves_.draw(neighbourhood_, random_);
      const Outcome guess = neighbourhood_.guess(move.unit, move.device);
      count();
      if (!guess.timed() || guess.makespan <= neighbourhood_.outcome().makespan) continue;
      sum += static_cast<double>(guess.makespan - neighbourhood_.outcome().makespan);
      ++slower;
    }
    if (slower > 0) scale_ = sum / slower;
  }

  void count() { incumbent_.searched(neighbourhood_.evaluations()); }

  const AnnealOptions& options_;
  Incumbent& incumbent_;
  Neighbourhood neighbourhood_;
  Moves moves_;
  Stream random_;
  double scale_ = 1;
};

PlacerResult place_anneal(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<AnnealOptions>(table);
  const Grouping units = make_grouping(*request.problem, GroupingKind::colocation);
  Incumbent incumbent(request, static_cast<std::uint64_t>(options.moves_per_unit) * units.count());
  incumbent.begin();
  Annealing(request, options, units, incumbent).run();
  return incumbent.result();
}

}  // namespace

PlacerEntry anneal_placer() {
  PlacerEntry entry;
  entry.name = "anneal";
  entry.summary = "Simulated annealing over moves of one unit, from the best of the quick placers.";
  entry.reference = "Kirkpatrick, Gelatt, Vecchi (1983)";
  entry.role = PlacerRole::search;
  entry.options = list_options<AnnealOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.place = place_anneal;
  return entry;
}

}  // namespace emplace
