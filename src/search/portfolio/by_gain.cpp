#include "search/portfolio/by_gain.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "emplace/problem/grouping.hpp"
#include "search/local/chains.hpp"
#include "search/portfolio/inner_search.hpp"

namespace emplace::search {

std::vector<std::size_t> GainBandit::ranking() {
  constexpr std::size_t trying = 2, exploring = 8;
  std::vector<std::size_t> order = order_;
  const auto by_cost = [&](std::size_t a, std::size_t b) { return arms_[a].cost < arms_[b].cost; };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return arms_[a].rate != arms_[b].rate ? arms_[a].rate > arms_[b].rate : by_cost(a, b);
  });
  const auto least = std::ranges::min_element(order, by_cost);
  if (slices_++ % (arms_[*least].cost == 0 ? trying : exploring) == 1) std::rotate(order.begin(), least, least + 1);
  return order;
}

void GainBandit::reward(std::size_t arm, double gained, double cost) {
  Arm& at = arms_[arm];
  const double rate = gained / cost;
  at.rate = at.cost > 0 ? (at.rate + rate) / 2 : rate;
  at.cost += cost;
}

namespace {

constexpr std::string_view policy_search = "learned";  // a trained policy's draws, improved

// The share of the rest of the budget in which a search on this problem can show what it is worth, if `width` of them
// run in parallel; it may be more than 1. A search with large blocks first gains when it has come down to single ops,
// which takes a few passes over all units.
double share_of_descent(const SearchSession& session, const Problem& problem, std::size_t units, std::size_t width) {
  constexpr double passes = 4, seconds_of_item = 3e-9;  // an item: an op or an edge, in one evaluation
  const double evaluations = passes * static_cast<double>(units);
  if (session.counts_evaluations())
    return evaluations * static_cast<double>(width) /
           static_cast<double>(std::max<std::uint64_t>(session.evaluations_left(), 1));
  const auto items = static_cast<double>(problem.op_count() + problem.edge_count());
  return evaluations * items * seconds_of_item / *session.seconds_left();
}

// What is left of the budget, in evaluations or seconds.
double left_of(const SearchSession& session) {
  return session.counts_evaluations() ? static_cast<double>(session.evaluations_left()) : *session.seconds_left();
}

// The searches' positions in the list, in the order in which they get their first slices from a local optimum: first
// those that improve most problems there.
std::vector<std::size_t> by_promise(const std::vector<PortfolioEntry>& searches) {
  constexpr std::string_view promise[] = {"climb", policy_search, "ruin", "layers", "tabu", contracted_search, "brkga"};
  std::vector<std::size_t> order(searches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return std::ranges::find(promise, searches[i].method); });
  return order;
}

std::optional<PortfolioEntry> take_out(std::vector<PortfolioEntry>& searches, std::string_view method) {
  const auto at = std::ranges::find(searches, method, &PortfolioEntry::method);
  if (at == searches.end()) return std::nullopt;
  PortfolioEntry entry = std::move(*at);
  searches.erase(at);
  return entry;
}

constexpr double least_share = 1.0 / 32, most_share = 1.0 / 8;  // of a slice

class Slices {
 public:
  Slices(SearchSession& session, const PlacerRequest& request, std::vector<PortfolioEntry> searches, std::size_t width)
      : session_(session),
        request_(request),
        layered_(take_out(searches, layered_search)),
        searches_(std::move(searches)),
        width_(width),
        units_(make_grouping(*request.problem, GroupingKind::colocation).count()),
        whole_(left_of(session)),
        descent_(share_of_descent(session, *request.problem, units_, width)),
        contracted_(position_of(contracted_search)),
        bandit_(by_promise(searches_)),
        seeds_(searches_.size(), 0) {}

  // First `layered`, if it takes part. Then two lines that both begin at the best placement so far, of which the better
  // one goes on: the first search of the list and then the second; and the second alone. Where `contracted` takes part
  // it begins the second line, and the second search of the list ends it, from the best of both lines. Which line leads
  // to the better placements depends on the problem, and shows early.
  void begin(std::vector<PortfolioEntry> beside) {
    draw_first(beside);
    begin_with_units(beside);
    if (searches_.empty()) return;
    constexpr double least_of_line = 1.0 / 10;  // of each of the two searches in a line
    const double share = std::clamp(descent_, least_of_line, most_of_line);
    if (searches_.size() < 2) {
      run({0, 0}, share, std::move(beside));
      is_local_optimum_ = descent_ <= most_of_line;
      return;
    }
    if (descent_ > most_of_line) return begin_with_one_line(std::move(beside));
    const Placement before = session_.placement();
    const bool has_start = session_.result().evaluations > 0;
    const Placement* const again = has_start ? &before : nullptr;
    run({0, 0}, share, std::move(beside));
    run({1, 1}, share, {});
    if (contracted_) {
      run({*contracted_, *contracted_}, share, {}, again);
      run({1, 1}, share, {});
    } else {
      run({1, 1}, 2 * share, {}, again);
    }
    is_local_optimum_ = true;
    bandit_.forget();
  }

  // Returns false if all searches were refused.
  bool go_on() {
    if (searches_.empty()) return false;
    const std::uint64_t evaluations = session_.result().evaluations;
    run(bandit_.ranking(), std::clamp(descent_, least_share, most_share), {});
    return !session_.counts_evaluations() || session_.result().evaluations != evaluations;
  }

 private:
  static constexpr double most_of_line = 1.0 / 4;  // of each of the two searches in a line

  [[nodiscard]] std::optional<std::size_t> position_of(std::string_view method) const {
    const auto at = std::ranges::find(searches_, method, &PortfolioEntry::method);
    return at == searches_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - searches_.begin()));
  }

  // A budget of evaluations that is too short for two lines begins with a trained policy's draws: each counts no more
  // than a move, and where not even one descent fits, the start decides. With a budget of seconds, in which a draw
  // takes as long as hundreds of moves, they do not pay.
  void draw_first(std::vector<PortfolioEntry>& beside) {
    constexpr double of_policy = 1.0 / 16;
    if (const auto policy = position_of(policy_search);
        policy && descent_ > most_of_line && session_.counts_evaluations())
      run({*policy, *policy}, of_policy, std::exchange(beside, {}));
  }

  // It runs only here: a local optimum of single ops would first have to be changed to whole units, which makes it
  // worse. Of the two ways to a smaller problem `contracted` is better where it pays, and after it the units have
  // little to add.
  void begin_with_units(std::vector<PortfolioEntry>& beside) {
    constexpr double of_units = 0.4;
    if (!layered_ || contracted_) return;
    std::vector<PortfolioEntry> batch = std::exchange(beside, {});
    for (std::size_t job = 0; job < width_; ++job) {
      batch.push_back(*layered_);
      batch.back().seed = seed_of_chain(request_.seed, job);
    }
    session_.try_placers(batch, searches_.empty() ? 1 : of_units);
    whole_ = left_of(session_);
    descent_ = share_of_descent(session_, *request_.problem, units_, width_);
  }

  // Where a line is too short to show what it is worth, there is only one.
  void begin_with_one_line(std::vector<PortfolioEntry> beside) {
    constexpr double of_contracted = 0.4, of_second = 0.3;
    if (!contracted_) return run({1, 1}, std::clamp(descent_, 2 * most_of_line, 1.0), std::move(beside));
    run({*contracted_, *contracted_}, of_contracted, std::move(beside));
    run({1, 1}, of_second, {});
  }

  // Half of the jobs are of the first search of the ranking, the rest of the next. All begin with the best placement so
  // far, or with `from`.
  void run(const std::vector<std::size_t>& ranking, double share, std::vector<PortfolioEntry> batch,
           const Placement* from = nullptr) {
    if (session_.exhausted() || session_.result().proved_optimal) return;
    std::map<std::size_t, std::size_t> jobs_of;
    const std::size_t jobs = batch.size() + width_;
    for (std::size_t job = 0; job < width_; ++job) {
      const std::size_t half = (width_ + 1) / 2;
      const std::size_t arm = ranking[job < half || ranking.size() == 1 ? 0 : 1 + (job - half) % (ranking.size() - 1)];
      batch.push_back(searches_[arm]);
      batch.back().seed = seed_of_chain(request_.seed, seeds_[arm]++);
      if (is_local_optimum_ && batch.back().method == "climb") batch.back().options.set("begin", {"kick", "best"});
      ++jobs_of[arm];
    }
    const double before = left_of(session_);
    const double slice = share * whole_ > 0.75 * before ? before : share * whole_;
    const std::size_t step = session_.result().steps.size();
    session_.try_placers(batch, std::min(1.0, slice / before), from);
    std::map<std::string, double> gained;
    for (const PlacerStep& each : std::span(session_.result().steps).subspan(step))
      gained[each.method] += static_cast<double>(each.gained);
    for (const auto& [arm, count] : jobs_of)
      bandit_.reward(arm, gained[searches_[arm].method],
                     slice * static_cast<double>(count) / static_cast<double>(jobs));
  }

  SearchSession& session_;
  const PlacerRequest& request_;
  const std::optional<PortfolioEntry> layered_;
  const std::vector<PortfolioEntry> searches_;
  const std::size_t width_, units_;
  double whole_, descent_;  // what is left for the lines and slices, and the share of it that a descent takes
  const std::optional<std::size_t> contracted_;
  GainBandit bandit_;
  bool is_local_optimum_ = false;   // a descent of `climb` has ended with the best placement, or with a worse one
  std::vector<std::size_t> seeds_;  // how many jobs each search has had
};

}  // namespace

void run_by_gain(SearchSession& session, const PlacerRequest& request, std::vector<PortfolioEntry> first,
                 std::vector<PortfolioEntry> searches, std::size_t width) {
  if (session.exhausted() || session.result().proved_optimal) return;
  if (searches.empty()) return session.try_placers(first);
  Slices slices(session, request, std::move(searches), width);
  slices.begin(std::move(first));
  while (!session.exhausted() && !session.result().proved_optimal)
    if (!slices.go_on()) return;
}

}  // namespace emplace::search
