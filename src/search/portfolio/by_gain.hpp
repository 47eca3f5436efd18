// How `best` gives its budget to searches: in slices, most of them to the search that lately gained most for its cost
// (a multi-armed bandit whose rewards change).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "search/common/search_session.hpp"

namespace emplace::search {

// Costs are evaluations or, with only a budget of seconds, seconds. Without a clock in it, a choice is the same for any
// number of workers.
class GainBandit {
 public:
  // Arms are numbers from 0; of arms that are equal otherwise, the one that comes first in `order` is tried first.
  explicit GainBandit(std::vector<std::size_t> order) : order_(std::move(order)), arms_(order_.size()) {}

  // The arms, by gain for cost, the one to try first in front; arms that gained nothing by cost. While there are arms
  // that were not tried, every second ranking has one of them in front, after that every eighth the arm that got least.
  // Each call is one slice.
  std::vector<std::size_t> ranking();
  void reward(std::size_t arm, double gained, double cost);
  // As if no arm had been tried.
  void forget() { *this = GainBandit(std::move(order_)); }

 private:
  struct Arm {
    double cost = 0;  // 0: not tried
    double rate = 0;  // gain for cost; each slice halves the weight of those before it
  };
  std::vector<std::size_t> order_;
  std::vector<Arm> arms_;
  std::size_t slices_ = 0;
};

// Runs searches until the budget is used up or the result is proved optimal. `layered` begins, if it is in the list,
// and is not run again: from a local optimum its units gain nothing. Then come the first two of the list, and
// `contracted`; then each slice runs `width` jobs in parallel, with different seeds, all from the best placement so
// far: half of them of the first search in the ranking, the rest of the next. What the two lines at the beginning
// gained does not count in the ranking: from the quick placers' answers any search gains hundreds of times as much as
// from a local optimum. `first` run beside the first slice.
void run_by_gain(SearchSession& session, const PlacerRequest& request, std::vector<PortfolioEntry> first,
                 std::vector<PortfolioEntry> searches, std::size_t width);

}  // namespace emplace::search
