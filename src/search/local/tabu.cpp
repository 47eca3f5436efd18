// Tabu search (Glover 1986): of several random changes, the one with the best guess is made even if it makes the step
// longer. The unit may then not move again for a while, unless that gives a new best placement.

#include "search/local/chains.hpp"
#include "search/local/moves.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct TabuOptions {
  std::int64_t width = 32, tenure = 20, patience = 500;
  ChainOptions chains;
};

void describe(TabuOptions& o, OptionVisitor& visit) {
  visit("width", o.width, {.min = 1, .max = 1'000'000, .help = "Number of moves that are guessed before one is made."});
  visit("tenure", o.tenure,
        {.min = 0, .max = 1'000'000, .help = "A moved unit may not move again for at least this number of moves."});
  visit("patience", o.patience,
        {.min = 1,
         .max = 1'000'000'000,
         .help = "Number of moves without a new best placement after which the search returns to the best."});
  describe(o.chains, visit);
}

class TabuSearch {
 public:
  TabuSearch(const PlacerRequest& request, const TabuOptions& options, const Grouping& units, SearchSession& session)
      : options_(options),
        session_(session),
        neighbourhood_(*request.problem, units, request.schedule),
        moves_(units, request.schedule),
        rests_until_(units.count(), 0),
        random_({.seed = request.seed, .purpose = Purpose::search}) {}

  void run() {
    if (!moves_.any() || session_.exhausted()) return;
    neighbourhood_.start(session_.placement());
    count();
    std::int64_t last_gain = 0;
    for (std::int64_t now = 0; !session_.exhausted(); ++now) {
      if (now - last_gain > options_.patience) {
        neighbourhood_.start(session_.placement());
        count();
        last_gain = now;
        continue;
      }
      auto change = best_guess(now);
      if (!change || session_.exhausted()) continue;
      Outcome exact = neighbourhood_.check(*change);
      count();
      rest(*change, now);
      if (exact.why == Infeasible::memory && change->unit != Change::none && change->partner == Change::none &&
          !session_.exhausted()) {
        const auto exchanged = best_exchange(*change);
        if (exchanged && !session_.exhausted()) {
          change = exchanged;
          exact = neighbourhood_.check(*change);
          count();
        }
      }
      if (neighbourhood_.outcome().feasible() && !exact.feasible()) continue;
      neighbourhood_.accept();
      if (better(exact, session_.outcome())) last_gain = now;
      session_.offer(neighbourhood_.placement(), exact);
    }
  }

 private:
  [[nodiscard]] std::uint32_t unit_of(const Change& change) const {
    return change.unit != Change::none ? change.unit : neighbourhood_.units().unit_of_op[change.order.op];
  }
  void rest(const Change& change, std::int64_t now) {
    rests_until_[unit_of(change)] =
        now + options_.tenure + random_.below(static_cast<std::uint32_t>(options_.tenure) + 1);
  }

  // The best guess of several drawn changes; changes of units that may not move yet count only if they give a new best.
  std::optional<Change> best_guess(std::int64_t now) {
    std::optional<Change> best;
    Outcome best_outcome;
    const auto look_at = [&](const Change& change) {
      const Outcome guess = neighbourhood_.guess(change);
      count();
      // Guesses ignore memory: if the best so far is infeasible, all of them would look like a new best.
      const bool is_new_best = session_.outcome().feasible() && better(guess, session_.outcome());
      if (rests_until_[unit_of(change)] > now && !is_new_best) return;
      if (best && !better(guess, best_outcome)) return;
      best = change;
      best_outcome = guess;
    };
    for (std::int64_t i = 0; i < options_.width && !session_.exhausted(); ++i) {
      Change change = moves_.draw(neighbourhood_, random_);
      look_at(change);
      if (!neighbourhood_.may_overflow() || change.unit == Change::none || session_.exhausted()) continue;
      if (random_.below(overflows_per_exchange) != 0) continue;
      const auto others = partners(neighbourhood_, change.unit, change.device, random_);
      if (others.empty()) continue;
      change.partner = others[random_.below(static_cast<std::uint32_t>(others.size()))];
      look_at(change);
    }
    return best;
  }

  // The change as an exchange with the partner that has the best guess; nothing if there is no partner.
  std::optional<Change> best_exchange(Change change) {
    std::optional<Change> best;
    Outcome best_outcome;
    for (const std::uint32_t partner : partners(neighbourhood_, change.unit, change.device, random_)) {
      if (session_.exhausted()) break;
      change.partner = partner;
      const Outcome guess = neighbourhood_.guess(change);
      count();
      if (best && !better(guess, best_outcome)) continue;
      best = change;
      best_outcome = guess;
    }
    return best;
  }

  void count() { session_.searched(neighbourhood_.evaluations()); }

  const TabuOptions& options_;
  SearchSession& session_;
  Neighbourhood neighbourhood_;
  Moves moves_;
  std::vector<std::int64_t> rests_until_;  // U
  Stream random_;
};

PlacerResult place_tabu(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<TabuOptions>(table);
  return search_in_chains("tabu", request, table, options.chains, [&](const Grouping& units, SearchSession& session) {
    TabuSearch(request, options, units, session).run();
  });
}

}  // namespace

PlacerEntry tabu_placer() {
  PlacerEntry entry;
  entry.name = "tabu";
  entry.summary = "Tabu search over moves of one unit or op, from the best of the quick placers.";
  entry.reference = "Glover (1986)";
  entry.role = PlacerRole::search;
  entry.options = list_options<TabuOptions>;
  entry.only_for = Objective::step;
  entry.own_engine = true;
  entry.from_start = true;
  entry.place = place_tabu;
  return entry;
}

}  // namespace emplace::search
