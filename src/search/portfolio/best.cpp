// A portfolio: first the quick placers (with a budget of seconds, those that take least time first) and bounds, then
// the exact placers and the searches in rounds, as many in parallel as there are workers, each from the best placement
// so far. Searches that help get the time of those that do not.
#include <algorithm>

#include "emplace/search/bound.hpp"
#include "search/common/predicted_time.hpp"
#include "search/common/search_session.hpp"
#include "search/local/chains.hpp"
#include "search/methods.hpp"

namespace emplace::search {

namespace {

struct BestOptions {
  double bound_share = 0.05, exact_share = 0.2;
  std::int64_t rounds = 4, width = 4, moves_per_unit = 500;
};

void describe(BestOptions& o, OptionVisitor& visit) {
  visit("bound_share", o.bound_share, {.min = 0, .max = 0.9, .help = "Share of a budget of seconds for lower bounds."});
  visit("exact_share", o.exact_share,
        {.min = 0, .max = 0.9, .help = "Share of the budget for exact placers, if only one placer runs at a time."});
  visit("rounds", o.rounds,
        {.min = 1,
         .max = 1000,
         .help = "Number of rounds of searches; a search that did not help in one round is left out of the next."});
  visit("width", o.width,
        {.min = 1,
         .max = 10'000,
         .help = "Number of placers in parallel with a budget of evaluations; with only a budget of seconds there is "
                 "one per worker."});
  visit("moves_per_unit", o.moves_per_unit,
        {.min = 1,
         .max = 1'000'000'000,
         .help = "Evaluations per unit if there is no budget of evaluations or seconds."});
}

std::vector<PortfolioEntry> entries_of(PlacerRole role, const PlacerRequest& request) {
  std::vector<PortfolioEntry> entries;
  for (const PlacerEntry& entry : placers())
    if (is_in_best(entry, role, request.objective)) entries.push_back({.method = entry.name, .seed = request.seed});
  return entries;
}

// Runs the entries in batches of `width`, each batch with its share of the remaining budget.
void run_entries(SearchSession& session, const std::vector<PortfolioEntry>& entries, std::size_t width, double share) {
  const std::size_t batches = (entries.size() + width - 1) / width;
  for (std::size_t b = 0; b < batches && !session.result().proved_optimal; ++b) {
    const std::size_t begin = b * width;
    const auto batch = std::span(entries).subspan(begin, std::min(width, entries.size() - begin));
    const double rest = 1 - share * static_cast<double>(b) / static_cast<double>(batches);
    session.try_placers(batch, share / static_cast<double>(batches) / rest);
  }
}

// The searches that gained at least a quarter of what the best of them gained in these steps; all if none gained.
std::vector<PortfolioEntry> those_that_helped(std::span<const PlacerStep> steps, const PlacerRequest& request) {
  constexpr Ticks part = 4;
  Ticks most = 0;
  for (const PlacerStep& step : steps) most = std::max(most, step.gained);
  std::vector<PortfolioEntry> helped;
  for (const PortfolioEntry& entry : entries_of(PlacerRole::search, request))
    if (std::ranges::any_of(
            steps, [&](const PlacerStep& step) { return step.method == entry.method && step.gained >= most / part; }))
      helped.push_back(entry);
  return helped;
}

// With only a budget of seconds: whether placers fit into the rest of it, by their predicted times and by how those of
// the placers so far have compared with the clock.
class Fit {
 public:
  Fit(SearchSession& session, const PlacerRequest& request) : session_(session), request_(request) {}

  // Runs the quick placers one after the other, those that take least time first. The ones that try several placements
  // get a quarter of the rest, but at least the time for the first of them; those that take longer than the rest are
  // left out.
  void run_quick_placers() {
    for (const std::string& method : quick_placers_by_time(*request_.problem, request_.objective)) {
      if (session_.exhausted()) return;
      const PredictedTime predicted = predicted_time(method, *request_.problem);
      const double left = *session_.seconds_left();
      if (predicted.first * pace_ > left && session_.result().evaluations > 0) continue;
      const bool is_one = predicted.first == predicted.whole;
      const double share = is_one ? 1 : std::min(1.0, std::max(0.25, 1.25 * predicted.first * pace_ / left));
      const PortfolioEntry entry{.method = method, .seed = request_.seed};
      session_.try_placers({&entry, 1}, share);
      if (is_one) compare(predicted.whole, left - *session_.seconds_left());
    }
  }

  // Keeps the entries that can begin within `share` of the rest if each gets an equal part of it, those that begin
  // soonest first. Returns in how many rounds they fit, at most `rounds`.
  std::int64_t keep_fitting(std::vector<PortfolioEntry>& entries, double share, std::int64_t rounds) const {
    const auto begin = [&](const PortfolioEntry& entry) {
      return pace_ * predicted_time(entry.method, *request_.problem).whole;
    };
    std::vector<double> times;
    for (const PortfolioEntry& entry : entries) times.push_back(begin(entry));
    std::ranges::sort(times);
    const double most = share * *session_.seconds_left() / margin;
    double sum = 0, longest = -1;
    for (const double time : times)
      if (sum + time <= most) {
        sum += time;
        longest = time;
      }
    std::erase_if(entries, [&](const PortfolioEntry& entry) { return begin(entry) > longest; });
    return sum * static_cast<double>(rounds) <= most ? rounds : static_cast<std::int64_t>(std::max(1.0, most / sum));
  }

  // Whether lower bounds can be computed in a quarter of the rest.
  [[nodiscard]] bool has_time_for_bounds() const {
    constexpr double of_pair = 40e-9;
    const Problem& problem = *request_.problem;
    const auto items = static_cast<double>(problem.op_count() + problem.edge_count());
    return pace_ * of_pair * items * static_cast<double>(problem.device_count()) < *session_.seconds_left() / 4;
  }

 private:
  static constexpr double margin = 2;

  void compare(double predicted, double measured) {
    constexpr double least = 0.05, fastest = 0.25, slowest = 8;  // below `least` seconds, times say little
    predicted_ += predicted;
    measured_ += measured;
    if (predicted_ > least) pace_ = std::clamp(measured_ / predicted_, fastest, slowest);
  }

  SearchSession& session_;
  const PlacerRequest& request_;
  double predicted_ = 0, measured_ = 0, pace_ = 1;
};

PlacerResult place_best(const PlacerRequest& request, const ConfigTable& table) {
  const auto options = read_options<BestOptions>(table);
  const std::size_t units = make_grouping(*request.problem, GroupingKind::colocation).count();
  SearchSession session(request, "best", static_cast<std::uint64_t>(options.moves_per_unit) * units);
  const std::size_t width = session.width(static_cast<std::size_t>(options.width));
  if (request.start != nullptr) session.begin();
  Fit fit(session, request);
  const bool is_timed = !session.counts_evaluations();
  if (is_timed && width == 1)
    fit.run_quick_placers();
  else
    session.try_placers(entries_of(PlacerRole::quick, request));
  if (request.stop && request.stop()) return session.result();

  // The bounds reached in given seconds depend on the machine: with a budget of evaluations, only bounds that need no
  // time limit are computed.
  const double seconds = session.counts_evaluations() ? 0 : options.bound_share * *session.seconds_left();
  if (!is_timed || fit.has_time_for_bounds()) {
    const BoundReport bounds = lower_bounds(*request.problem, request.objective, seconds, request.stop);
    if (bounds.infeasible) return session.result();
    session.bound(bounds.best().ticks);
  }

  std::vector<PortfolioEntry> entries = entries_of(PlacerRole::exact, request);
  if (is_timed) fit.keep_fitting(entries, options.exact_share, 1);
  if (width == 1) {
    run_entries(session, entries, width, options.exact_share);
    entries.clear();
  }
  std::vector<PortfolioEntry> searches = entries_of(PlacerRole::search, request);
  const std::int64_t rounds = is_timed ? fit.keep_fitting(searches, 1, options.rounds) : options.rounds;
  for (std::int64_t round = 0; round < rounds && !searches.empty(); ++round) {
    // As many seeds of each search as are needed to use all workers.
    for (std::size_t i = 0; i < std::max(width, searches.size()); ++i) {
      entries.push_back(searches[i % searches.size()]);
      entries.back().seed = seed_of_chain(request.seed, static_cast<std::size_t>(round) * width + i / searches.size());
    }
    const std::size_t first = session.result().steps.size();
    run_entries(session, entries, width, 1 / static_cast<double>(rounds - round));
    if (session.exhausted() || session.result().proved_optimal) break;
    entries.clear();
    searches = those_that_helped(std::span(session.result().steps).subspan(first), request);
  }
  return session.result();
}

}  // namespace

PlacerEntry best_placer() {
  PlacerEntry entry;
  entry.name = "best";
  entry.summary = "All other placers within one budget; each search starts from the best placement so far.";
  entry.options = list_options<BestOptions>;
  entry.role = PlacerRole::other;
  entry.own_engine = true;
  entry.from_start = true;
  entry.place = place_best;
  return entry;
}

}  // namespace emplace::search
