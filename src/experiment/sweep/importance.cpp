#include "experiment/sweep/importance.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "emplace/base/random.hpp"

namespace emplace::experiment {

namespace {

constexpr std::size_t shuffles = 200;
constexpr std::size_t most_groups = 8;

// The group of each value, numbered from 0. If there are few different values (at most the square root of the number of
// trials, and at most most_groups) or they have no order, each is a group. Otherwise they are cut into intervals with
// about equally many trials; equal values are in the same interval.
std::vector<std::size_t> groups_of(const std::vector<double>& values, bool ordered, std::size_t& count) {
  std::map<double, std::size_t> sorted;  // from a value to the number of trials with it
  for (const double value : values) ++sorted[value];
  const std::size_t intervals = std::min(most_groups, static_cast<std::size_t>(std::sqrt(values.size())));
  std::size_t below = 0;
  count = 0;
  std::map<double, std::size_t> group;
  if (!ordered || sorted.size() <= intervals) {
    for (const auto& [value, trials] : sorted) group[value] = count++;
  } else {
    std::size_t interval = 0;
    for (const auto& [value, trials] : sorted) {
      const std::size_t wanted = below * intervals / values.size();
      if (below == 0 || wanted != interval) ++count;
      interval = wanted;
      group[value] = count - 1;
      below += trials;
    }
  }
  std::vector<std::size_t> groups;
  for (const double value : values) groups.push_back(group[value]);
  return groups;
}

// The variance between the groups' means divided by the whole variance.
double correlation_ratio(const std::vector<double>& objectives, const std::vector<std::size_t>& groups,
                         std::size_t count) {
  double mean = 0;
  for (const double y : objectives) mean += y / static_cast<double>(objectives.size());
  std::vector<double> sum(count), trials(count);
  double all = 0;
  for (std::size_t i = 0; i < objectives.size(); ++i) {
    const double y = objectives[i] - mean;
    all += y * y;
    sum[groups[i]] += y;
    trials[groups[i]] += 1;
  }
  double between = 0;
  for (std::size_t g = 0; g < count; ++g) between += sum[g] * sum[g] / trials[g];
  return all > 0 ? std::min(1.0, between / all) : 0;
}

}  // namespace

std::vector<Importance> importances(const Space& space, std::span<const TrialRow> rows, std::uint64_t seed) {
  std::vector<Importance> all;
  for (std::size_t p = 0; p < space.size(); ++p) {
    const Parameter& parameter = space.parameters()[p];
    std::vector<double> values, objectives;
    for (const TrialRow& row : rows) {
      if (!row.objective || !row.assignment || !row.assignment->values[p]) continue;
      values.push_back(*row.assignment->values[p]);
      objectives.push_back(std::log(*row.objective));
    }
    Importance importance{.key = parameter.key, .trials = values.size()};
    const auto groups = groups_of(values, parameter.kind != Parameter::Kind::choices, importance.groups);
    if (values.size() < 3 || importance.groups < 2) {
      all.push_back(std::move(importance));
      continue;
    }
    importance.share = correlation_ratio(objectives, groups, importance.groups);
    std::vector<double> chance;
    for (std::size_t shuffle = 0; shuffle < shuffles; ++shuffle) {
      Stream stream(
          {.seed = seed, .purpose = Purpose::shuffle, .update = shuffle, .index = static_cast<std::uint32_t>(p)});
      std::vector<double> shuffled = objectives;
      for (std::size_t i = shuffled.size(); i-- > 1;)
        std::swap(shuffled[i], shuffled[stream.below(static_cast<std::uint32_t>(i) + 1)]);
      chance.push_back(correlation_ratio(shuffled, groups, importance.groups));
      importance.by_chance += chance.back() / static_cast<double>(shuffles);
    }
    std::ranges::sort(chance);
    importance.noise = chance[shuffles * 95 / 100];
    all.push_back(std::move(importance));
  }
  return all;
}

std::vector<TrialPoint> parallel_coordinates(const Space& space, std::span<const TrialRow> rows) {
  std::vector<TrialPoint> points;
  for (const TrialRow& row : rows)
    if (row.objective && row.assignment) points.push_back({row.trial, *row.objective, space.encode(*row.assignment)});
  std::ranges::stable_sort(points, std::ranges::greater(), &TrialPoint::objective);
  return points;
}

}  // namespace emplace::experiment
