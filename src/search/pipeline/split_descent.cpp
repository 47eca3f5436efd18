#include "search/pipeline/split_descent.hpp"
#include "simulate/pipeline/pipeline.hpp"

#include <utility>

#include "emplace/base/error.hpp"
#include "emplace/problem/grouping.hpp"

namespace emplace::search {

namespace {

struct Value {
  Ticks load = 0;
  double squares = 0;

  // Sums of squares that differ only by rounding count as equal, so that the descent ends.
  [[nodiscard]] bool below(const Value& other) const {
    return load < other.load || (load == other.load && squares < other.squares * (1 - 1e-9));
  }
};

}  // namespace

Ticks descend(const Problem& problem, const simulate::PipelineOptions& options, std::vector<std::uint8_t>& devices,
              const Deadline& deadline) {
  const Grouping units = make_grouping(problem, GroupingKind::colocation);
  const auto engine = simulate::make_pipeline_engine(problem, options);
  Placement placement{devices, {}};
  const auto squares = [&] {
    double sum = 0;
    for (const simulate::DeviceLoad& each : simulate::pipeline_loads(problem, placement)) {
      const double load = to_seconds(simulate::load_of(each, options));
      sum += load * load;
    }
    return sum;
  };
  const auto put = [&](std::size_t unit, std::uint8_t device) {
    for (const std::uint32_t op : units.members[unit]) placement.device[op] = device;
  };
  const Outcome start = engine->evaluate(placement);
  EMPLACE_CHECK(start.feasible());
  Value best{start.makespan, squares()};
  for (bool moved = true; moved;) {
    moved = false;
    std::pair<std::size_t, std::uint8_t> move;
    for (std::size_t unit = 0; unit < units.count(); ++unit) {
      if (deadline.passed()) break;
      const std::uint8_t home = placement.device[units.members[unit].front()];
      for (std::size_t d = 0; d < problem.device_count(); ++d) {
        if (d == home || !units.allows(unit, d)) continue;
        put(unit, static_cast<std::uint8_t>(d));
        const Outcome outcome = engine->evaluate(placement);
        if (!outcome.feasible() || outcome.makespan > best.load) continue;
        const Value value{outcome.makespan, squares()};
        if (!value.below(best)) continue;
        best = value;
        move = {unit, static_cast<std::uint8_t>(d)};
        moved = true;
      }
      put(unit, home);
    }
    if (moved) put(move.first, move.second);
  }
  devices = std::move(placement.device);
  return best.load;
}

}  // namespace emplace::search
