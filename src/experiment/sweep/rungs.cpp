#include "experiment/sweep/rungs.hpp"

#include <algorithm>

#include "experiment/sweep/points.hpp"

namespace emplace::experiment {

void describe(RungOptions& o, OptionVisitor& visit) {
  visit("reduction", o.reduction,
        {.min = 2,
         .max = 64,
         .help = "One of this many trials is promoted to the next rung, which has this many times the budget."});
  visit("rungs", o.rungs,
        {.min = 1,
         .max = 20,
         .help =
             "Number of shares of the budget at which trials are compared, including the whole budget; by default such "
             "that one trial is left on the last."});
  describe_points(o.points, visit);
}

Rungs::Rungs(const RungOptions& options, std::size_t trials) : reduction_(static_cast<std::size_t>(options.reduction)) {
  std::size_t count = static_cast<std::size_t>(options.rungs);
  if (count == 0)
    for (std::size_t left = trials; left > 0; left /= reduction_) ++count;
  double divisor = 1;
  for (std::size_t rung = 0; rung < count; ++rung, divisor *= static_cast<double>(reduction_))
    shares_.push_back(1 / divisor);
  std::ranges::reverse(shares_);
}

std::vector<std::size_t> Rungs::sizes(std::size_t trials, std::size_t first) const {
  std::vector<std::size_t> sizes;
  for (std::size_t rung = first; rung < count(); ++rung, trials /= reduction_)
    sizes.push_back(std::max<std::size_t>(1, trials));
  return sizes;
}

double Rungs::budgets(std::size_t trials, std::size_t first) const {
  const std::vector<std::size_t> on = sizes(trials, first);
  double sum = 0;
  for (std::size_t i = 0; i < on.size(); ++i)
    sum += static_cast<double>(on[i]) * (share(first + i) - (i == 0 ? 0 : share(first + i - 1)));
  return sum;
}

}  // namespace emplace::experiment
