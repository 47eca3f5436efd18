#include "emplace/search/local_search.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "deadline.hpp"
#include "emplace/base/random.hpp"
#include "emplace/search/neighbourhood.hpp"

namespace emplace {

namespace {

class Budget {
 public:
  Budget(const LocalSearchOptions& options, const Neighbourhood& neighbourhood)
      : options_(options), neighbourhood_(neighbourhood), deadline_(options.seconds) {}

  [[nodiscard]] bool spent() const {
    if (options_.evaluations && neighbourhood_.evaluations() >= *options_.evaluations) return true;
    return deadline_.passed();
  }

 private:
  const LocalSearchOptions& options_;
  const Neighbourhood& neighbourhood_;
  const Deadline deadline_;
};

void shuffle(std::vector<std::uint32_t>& items, Stream random) {
  for (auto left = static_cast<std::uint32_t>(items.size()); left > 1; --left)
    std::swap(items[left - 1], items[random.below(left)]);
}

// Moves the unit to the device of the best guess if that is an improvement.
bool improve(Neighbourhood& neighbourhood, std::uint32_t unit, std::size_t devices, const Budget& budget) {
  Outcome best = neighbourhood.outcome();
  std::size_t to = devices;
  for (std::size_t d = 0; d < devices && !budget.spent(); ++d) {
    const auto device = static_cast<std::uint8_t>(d);
    if (!neighbourhood.can_move(unit, device)) continue;
    const Outcome guess = neighbourhood.guess(unit, device);
    if (!better(guess, best)) continue;
    best = guess;
    to = d;
  }
  if (to == devices || budget.spent()) return false;
  if (!better(neighbourhood.check(unit, static_cast<std::uint8_t>(to)), neighbourhood.outcome())) return false;
  neighbourhood.accept();
  return true;
}

}  // namespace

LocalSearchResult local_search(const Problem& problem, const Grouping& units, Schedule schedule, const Placement& start,
                               const LocalSearchOptions& options) {
  Neighbourhood neighbourhood(problem, units, schedule);
  const Budget budget(options, neighbourhood);
  neighbourhood.start(start);

  LocalSearchResult result;
  std::vector<std::uint32_t> order(units.count());
  for (std::uint64_t sweep = 0; !result.settled && !budget.spent(); ++sweep) {
    std::iota(order.begin(), order.end(), 0U);
    shuffle(order, Stream({.seed = options.seed, .purpose = Purpose::search, .update = sweep, .index = 0}));
    const std::uint64_t before = result.accepted;
    for (const std::uint32_t unit : order) {
      if (budget.spent()) break;
      result.accepted += improve(neighbourhood, unit, problem.device_count(), budget);
    }
    result.settled = result.accepted == before && !budget.spent();
  }
  result.placement = neighbourhood.placement();
  result.outcome = neighbourhood.outcome();
  result.guesses = neighbourhood.guesses();
  result.checks = neighbourhood.checks();
  return result;
}

}  // namespace emplace
