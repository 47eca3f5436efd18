#include "app/curve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

namespace emplace::app {

void Curve::add(double seconds, std::uint64_t evaluations, const Outcome& best) {
  if (best.timed() && best.feasible()) points_.push_back({seconds, evaluations, best.makespan});
}

void Curve::add(std::span<const search::PlacerStep> steps) {
  for (const search::PlacerStep& step : steps) add(step.seconds, step.evaluations, step.outcome);
}

std::string Curve::csv() const {
  std::vector<Point> points = points_;
  std::ranges::stable_sort(points, {}, &Point::seconds);
  std::string text = "seconds,evaluations,step_ps\n";
  Ticks least = std::numeric_limits<Ticks>::max();
  for (const Point& point : points) {
    if (point.makespan >= least) continue;
    least = point.makespan;
    text += fmt::format("{:.3f},{},{}\n", point.seconds, point.evaluations, point.makespan);
  }
  return text;
}

}  // namespace emplace::app
