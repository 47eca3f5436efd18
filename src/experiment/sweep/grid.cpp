// The grid: every combination of the parameters' values, each trained once.
#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/base/options.hpp"
#include "experiment/sweep/in_turn.hpp"
#include "experiment/sweep/strategies.hpp"

namespace emplace::experiment {

namespace {

constexpr std::size_t most_trials = 100000;

struct GridOptions {
  int points = 5;
};
void describe(GridOptions& o, OptionVisitor& visit) {
  visit("points", o.points,
        {.min = 2,
         .max = 10000,
         .help = "Number of values of a continuous range, and the most of a range of integers: evenly spaced, "
                 "including its ends."});
}

std::vector<double> grid_values(const Parameter& parameter, std::size_t points) {
  std::vector<double> values;
  const std::size_t count = parameter.count();
  if (parameter.kind == Parameter::Kind::choices || (count > 0 && count <= points)) {
    for (std::size_t i = 0; i < count; ++i) values.push_back(parameter.low + parameter.step * static_cast<double>(i));
    return values;
  }
  for (std::size_t i = 0; i < points; ++i) {
    const double value = parameter.decode(static_cast<double>(i) / static_cast<double>(points - 1));
    if (values.empty() || values.back() != value) values.push_back(value);
  }
  return values;
}

// Adds every combination of values; the last parameter of the order changes fastest. An inactive parameter adds no
// combinations.
void add_combinations(const Space& space, std::span<const std::vector<double>> values, std::size_t depth,
                      Assignment& assignment, std::vector<Assignment>& out) {
  if (depth == space.size()) {
    if (out.size() == most_trials) throw InputError("", "the grid has more than {} points", most_trials);
    out.push_back(assignment);
    return;
  }
  const std::size_t p = space.order()[depth];
  if (!space.active(p, assignment)) {
    add_combinations(space, values, depth + 1, assignment, out);
    return;
  }
  for (const double value : values[p]) {
    assignment.values[p] = value;
    add_combinations(space, values, depth + 1, assignment, out);
  }
  assignment.values[p].reset();
}

std::vector<Assignment> combinations(const GridOptions& options, const StrategySetup& setup) {
  const Space& space = *setup.space;
  std::vector<std::vector<double>> values;
  for (const Parameter& parameter : space.parameters())
    values.push_back(grid_values(parameter, static_cast<std::size_t>(options.points)));
  Assignment assignment{std::vector<std::optional<double>>(space.size())};
  std::vector<Assignment> all;
  add_combinations(space, values, 0, assignment, all);
  if (setup.trials > 0 && all.size() > setup.trials)
    throw InputError("", "the grid has {} points, but trials = {}", all.size(), setup.trials);
  return all;
}

class GridStrategy final : public InTurn {
 public:
  GridStrategy(const GridOptions& options, const StrategySetup& setup) : GridStrategy(combinations(options, setup)) {}

 private:
  explicit GridStrategy(std::vector<Assignment> points) : InTurn(points.size()), points_(std::move(points)) {}
  Assignment make(std::size_t trial) override { return points_[trial]; }

  std::vector<Assignment> points_;
};

}  // namespace

SweepStrategyEntry grid_strategy() {
  SweepStrategyEntry entry;
  entry.name = "grid";
  entry.summary = "Tries every combination of values; if `trials` is given, more combinations are an error.";
  entry.reference = "Full factorial design";
  entry.needs_results = false;
  make_from_options<GridStrategy, GridOptions>(entry);
  return entry;
}

}  // namespace emplace::experiment
