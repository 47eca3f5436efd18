// The best placement that a search has seen, and what is left of its budget.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "emplace/search/placer.hpp"
#include "emplace/search/placer_pool.hpp"
#include "search/common/deadline.hpp"

namespace emplace::search {

// A placer of a portfolio and the seed that it gets.
struct PortfolioEntry {
  std::string method;
  ConfigTable options = ConfigTable("search");
  std::uint64_t seed = 0;
};

class SearchSession {
 public:
  // Without a budget in the request the search ends after `default_evaluations`. `method` is what news are told of.
  SearchSession(const PlacerRequest& request, std::string method, std::uint64_t default_evaluations);

  // Whether to end. Tells news now and then.
  [[nodiscard]] bool exhausted();
  // How much of the budget is used, from 0 to 1.
  [[nodiscard]] double progress() const { return progress(best_.evaluations); }
  [[nodiscard]] bool counts_evaluations() const;  // false: the budget is one of seconds alone
  [[nodiscard]] std::uint64_t evaluations_left() const {
    return best_.evaluations < most_evaluations_ ? most_evaluations_ - best_.evaluations : 0;
  }
  [[nodiscard]] std::optional<double> seconds_left() const {  // nothing: no such budget
    return request_.seconds ? std::optional(std::max(deadline_.left(), least_seconds)) : std::nullopt;
  }
  [[nodiscard]] const Placement& placement() const { return best_.placement; }
  [[nodiscard]] const Outcome& outcome() const { return best_.outcome; }

  // Evaluates the request's start, or lets quick placers find one: what searches begin with.
  void begin();
  // How many searches to run side by side: as many as the pool can within a budget of seconds; within one of
  // evaluations `wanted`, or fewer where few are left, so that the bits are the same whatever the pool; one where this
  // is a job of such a pool.
  [[nodiscard]] std::size_t width(std::size_t wanted) const;
  // Other placers side by side, all from the best so far, within a share of what is left; evaluations are divided
  // equally. Results count in the order of the entries. Nothing happens if the budget is used up.
  void try_placers(std::span<const PortfolioEntry> entries, double share = 1);
  // How many evaluations the search has made so far on an engine of its own.
  void searched(std::uint64_t evaluations) {
    best_.evaluations += evaluations - searched_;
    searched_ = evaluations;
  }
  // An exact outcome that has been counted.
  void offer(const Placement& placement, const Outcome& outcome);
  // A bound that holds for every placement.
  void bound(Ticks ticks);

  [[nodiscard]] const PlacerResult& result() const { return best_; }

 private:
  [[nodiscard]] double progress(std::uint64_t evaluations) const;
  void check_proof();
  void take(const std::string& method, const PoolAnswer& answer, double began, const Outcome& from);

  const PlacerRequest request_;
  const std::string method_;
  const std::uint64_t most_evaluations_;
  const Deadline deadline_;
  PlacerResult best_;
  std::uint64_t searched_ = 0;
  double told_ = 0;  // seconds since the start
};

}  // namespace emplace::search
