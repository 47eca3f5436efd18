// Simulated annealing (Kirkpatrick et al. 1983) over random changes (moves.hpp), which are guessed on the incremental
// engine and checked exactly before they are made. The temperature falls geometrically over the budget.
#include <cmath>

#include "search/local/chains.hpp"
#include "search/local/moves.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct AnnealOptions {
  double hottest = 0.3, coldest = 1e-3;
  ChainOptions chains;
};

void describe(AnnealOptions& o, OptionVisitor& visit) {
  visit("hottest", o.hottest,
        {.min = 1e-9,
         .max = 1e9,
         .help = "First temperature, as a multiple of the mean loss of those moves from the start that make the step "
                 "longer."});
  visit("coldest", o.coldest, {.min = 1e-9, .max = 1e9, .help = "Last temperature, in the same unit."});
  describe(o.chains, visit);
}

class Annealing {
 public:
  Annealing(const PlacerRequest& request, const AnnealOptions& options, const Grouping& units, SearchSession& session)
      : options_(options),
        session_(session),
        neighbourhood_(*request.problem, units, request.schedule),
        moves_(units, request.schedule),
        random_({.seed = request.seed, .purpose = Purpose::search}) {}

  void run() {
    if (!moves_.any() || session_.exhausted()) return;
    neighbourhood_.start(session_.placement());
    count();
    measure_losses();
    while (!session_.exhausted()) {
      const Change change = moves_.draw(neighbourhood_, random_);
      const double threshold =
          random_.uniform();  // drawn for every change, so that the random stream does not depend on guesses
      if (!try_out(change, threshold) && change.unit != Change::none) exchange(change, threshold);
    }
  }

 private:
  // Makes the change if it is accepted; returns whether it was.
  bool try_out(const Change& change, double threshold) {
    const Outcome guess = neighbourhood_.guess(change);
    overflows_ = neighbourhood_.may_overflow() && random_.below(overflows_per_exchange) == 0;
    count();
    if (!is_taken(guess, threshold) || session_.exhausted()) return false;
    const Outcome exact = neighbourhood_.check(change);
    count();
    overflows_ = exact.why == Infeasible::memory;
    if (!is_taken(exact, threshold)) return false;
    neighbourhood_.accept();
    session_.offer(neighbourhood_.placement(), exact);
    return true;
  }

  // The same as an exchange with another unit, if memory may prevent the change alone.
  void exchange(Change change, double threshold) {
    if (!overflows_ || session_.exhausted()) return;
    const auto others = partners(neighbourhood_, change.unit, change.device, random_);
    if (others.empty()) return;
    change.partner = others[random_.below(static_cast<std::uint32_t>(others.size()))];
    try_out(change, threshold);
  }

  [[nodiscard]] bool is_taken(const Outcome& outcome, double threshold) const {
    const Outcome& now = neighbourhood_.outcome();
    if (better(outcome, now)) return true;
    if (!outcome.feasible() || !now.feasible()) return false;
    const double temperature =
        options_.hottest * std::pow(options_.coldest / options_.hottest, session_.progress()) * scale_;
    return std::exp(static_cast<double>(now.makespan - outcome.makespan) / temperature) > threshold;
  }

  // Computes the scale of temperatures: the mean loss of those moves from the start that make the step longer.
  void measure_losses() {
    constexpr int moves = 100;
    double sum = 0;
    int slower = 0;
    for (int i = 0; i < moves && !session_.exhausted(); ++i) {
      const Outcome guess = neighbourhood_.guess(moves_.draw(neighbourhood_, random_));
      count();
      if (!guess.timed() || guess.makespan <= neighbourhood_.outcome().makespan) continue;
      sum += static_cast<double>(guess.makespan - neighbourhood_.outcome().makespan);
      ++slower;
    }
    if (slower > 0) scale_ = sum / slower;
  }

  void count() { session_.searched(neighbourhood_.evaluations()); }

  const AnnealOptions& options_;
  SearchSession& session_;
  Neighbourhood neighbourhood_;
  Moves moves_;
  Stream random_;
  double scale_ = 1;
  bool overflows_ = false;  // the last change tried may overflow, and is to be tried as an exchange
};

PlacerResult place_anneal(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<AnnealOptions>(table);
  return search_in_chains("anneal", request, table, options.chains, [&](const Grouping& units, SearchSession& session) {
    Annealing(request, options, units, session).run();
  });
}

}  // namespace

PlacerEntry anneal_placer() {
  PlacerEntry entry;
  entry.name = "anneal";
  entry.summary = "Simulated annealing over moves of one unit or op, from the best of the quick placers.";
  entry.reference = "Kirkpatrick, Gelatt, Vecchi (1983)";
  entry.role = PlacerRole::search;
  entry.options = list_options<AnnealOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.from_start = true;
  entry.place = place_anneal;
  return entry;
}

}  // namespace emplace::search
