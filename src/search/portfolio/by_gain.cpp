#include "search/portfolio/by_gain.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "emplace/problem/grouping.hpp"
#include "search/local/chains.hpp"

namespace emplace::search {

std::vector<std::size_t> GainBandit::ranking() {
  std::vector<std::size_t> order(arms_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto tried = [&](std::size_t arm) { return arms_[arm].cost > 0; };
  if (std::ranges::all_of(order, tried)) {
    const auto by_cost = [&](std::size_t a, std::size_t b) { return arms_[a].cost < arms_[b].cost; };
    const auto by_rate = [&](std::size_t a, std::size_t b) {
      return arms_[a].rate != arms_[b].rate ? arms_[a].rate > arms_[b].rate : by_cost(a, b);
    };
    std::ranges::stable_sort(order, by_rate);
    if (++slices_ % exploring == 0) {
      const auto least = std::ranges::min_element(order, by_cost);
      std::rotate(order.begin(), least, least + 1);
    }
  } else {
    std::ranges::stable_partition(order, [&](std::size_t arm) { return !tried(arm); });
  }
  return order;
}

void GainBandit::reward(std::size_t arm, double gained, double cost) {
  Arm& at = arms_[arm];
  const double rate = gained / cost;
  at.rate = at.cost > 0 ? (at.rate + rate) / 2 : rate;
  at.cost += cost;
}

namespace {

// The share of the whole budget in which a search on this problem can show what it is worth: a search with large blocks
// first gains when it has come down to single ops, which takes a few passes over all units.
double share_of_descent(const SearchSession& session, const Problem& problem, std::size_t width) {
  constexpr double passes = 4, seconds_of_item = 3e-9;  // an item: an op or an edge, in one evaluation
  const double evaluations = passes * static_cast<double>(make_grouping(problem, GroupingKind::colocation).count());
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

}  // namespace

void run_by_gain(SearchSession& session, const PlacerRequest& request, std::vector<PortfolioEntry> first,
                 const std::vector<PortfolioEntry>& searches, std::size_t width) {
  constexpr double least_share = 1.0 / 32, most_share = 1.0 / 8;
  if (searches.empty() || session.exhausted() || session.result().proved_optimal) return;
  const double whole = left_of(session);
  const double descent = share_of_descent(session, *request.problem, width);
  GainBandit bandit(searches.size());
  std::vector<std::size_t> seeds(searches.size(), 0);  // how many jobs each search has had
  for (bool is_first = true; !session.exhausted() && !session.result().proved_optimal; is_first = false) {
    const std::vector<std::size_t> ranking = bandit.ranking();
    std::vector<PortfolioEntry> batch = std::move(first);
    first.clear();
    std::map<std::string, std::size_t> jobs_of;
    const std::size_t jobs = batch.size() + width;
    for (std::size_t job = 0; job < width; ++job) {
      const std::size_t half = (width + 1) / 2;
      const std::size_t arm = ranking[job < half || ranking.size() == 1 ? 0 : 1 + (job - half) % (ranking.size() - 1)];
      batch.push_back(searches[arm]);
      batch.back().seed = seed_of_chain(request.seed, seeds[arm]++);
      ++jobs_of[searches[arm].method];
    }
    // The first search in the list may need all of the budget to come down; the others begin from what it found.
    const double share = std::clamp(descent, least_share, is_first ? 1.0 : most_share);
    const double before = left_of(session);
    const double slice = share * whole > 0.75 * before ? before : share * whole;
    const std::size_t step = session.result().steps.size();
    const std::uint64_t evaluations = session.result().evaluations;
    session.try_placers(batch, std::min(1.0, slice / before));
    if (session.counts_evaluations() && session.result().evaluations == evaluations) return;  // all were refused
    std::map<std::string, double> gained;
    for (const PlacerStep& each : std::span(session.result().steps).subspan(step))
      gained[each.method] += static_cast<double>(each.gained);
    for (std::size_t arm = 0; arm < searches.size(); ++arm)
      if (const auto found = jobs_of.find(searches[arm].method); found != jobs_of.end())
        bandit.reward(arm, gained[searches[arm].method],
                      slice * static_cast<double>(found->second) / static_cast<double>(jobs));
  }
}

}  // namespace emplace::search
