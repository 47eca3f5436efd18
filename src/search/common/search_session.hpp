// The best placement that a search has seen, and what is left of its budget.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "emplace/search/placer.hpp"
#include "search/common/deadline.hpp"
#include "search/common/placer_pool.hpp"

namespace emplace::search {

// A placer of a portfolio, with its options and seed.
struct PortfolioEntry {
  std::string method;
  ConfigTable options = ConfigTable("search");
  std::uint64_t seed = 0;
};

class SearchSession {
 public:
  // Without a budget in the request the search ends after `default_evaluations`. `method` is the name in progress
  // reports.
  SearchSession(const PlacerRequest& request, std::string method, std::uint64_t default_evaluations);

  // Whether the budget is used up or a stop was requested. Also reports progress from time to time.
  [[nodiscard]] bool exhausted();
  // How much of the budget is used, from 0 to 1.
  [[nodiscard]] double progress() const { return progress(best_.evaluations); }
  // False: the only budget is one of seconds.
  [[nodiscard]] bool counts_evaluations() const { return request_.evaluations || !request_.seconds; }
  [[nodiscard]] std::uint64_t evaluations_left() const {
    return best_.evaluations < most_evaluations_ ? most_evaluations_ - best_.evaluations : 0;
  }
  [[nodiscard]] std::optional<double> seconds_left() const {  // nothing: no budget of seconds
    return request_.seconds ? std::optional(std::max(deadline_.left(), least_seconds)) : std::nullopt;
  }
  [[nodiscard]] const Placement& placement() const { return best_.placement; }
  [[nodiscard]] const Outcome& outcome() const { return best_.outcome; }

  // Evaluates the request's start, or else runs quick placers to find one. Searches call it first. No move of one unit
  // improves a start in which several ops are where they cannot run, and few do so where groups are split: such a start
  // is mended first, and where it still has no time, the quick placers run too.
  void begin();
  // How many searches to run in parallel. With only a budget of seconds: as many as the pool has workers. With a budget
  // of evaluations: `wanted`, or fewer if few evaluations are left, so that results are bitwise equal for every pool.
  // One if this search is itself a job of a pool.
  [[nodiscard]] std::size_t width(std::size_t wanted) const;
  // Runs other placers in parallel, all from the best placement so far or from `start`, with a share of the remaining
  // budget; evaluations are divided equally. Results are taken in the order of the entries. Does nothing if the budget
  // is used up.
  void try_placers(std::span<const PortfolioEntry> entries, double share = 1, const Placement* start = nullptr);
  // Tells the session how many evaluations the search has made so far on its own engine.
  void searched(std::uint64_t evaluations) {
    best_.evaluations += evaluations - searched_;
    searched_ = evaluations;
  }
  // Offers a placement with its exact outcome, whose evaluation has been counted already.
  void offer(const Placement& placement, const Outcome& outcome);
  // Adds a step for what the search has found on its own engine since begin() or the last jobs ended.
  void end_search();
  // Evaluates a placement and offers it; the first one is taken in any case.
  void try_out(const Placement& placement);
  // Records a lower bound for all placements; without a method it is the search's own.
  void bound(const LowerBound& bound);

  [[nodiscard]] const PlacerResult& result() const { return best_; }

 private:
  [[nodiscard]] double progress(std::uint64_t evaluations) const;
  void check_proof();
  void try_quick_placers();
  void take(const std::string& method, const PoolAnswer& answer, double began, const Outcome& from);

  const PlacerRequest request_;
  const std::string method_;
  const std::uint64_t most_evaluations_;
  const Deadline deadline_;
  PlacerResult best_;
  std::uint64_t searched_ = 0;
  Outcome before_search_;  // the best at begin() or when the last jobs ended
  double told_ = 0;        // time of the last progress report, in seconds since the start
};

}  // namespace emplace::search
