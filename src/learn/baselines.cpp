#include "learn/baselines.hpp"

#include <cmath>

namespace emplace::learn {

namespace {

double mean_of(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

}  // namespace

std::vector<double> Baselines::of(const Key& key, std::span<const double> returns, std::optional<double> start) {
  std::vector<double> baselines(returns.size(), 0.0);
  if (returns.empty() || kind_ == BaselineKind::none) return baselines;
  const double mean = mean_of(returns);
  if (kind_ == BaselineKind::leave_one_out) {
    const auto count = static_cast<double>(returns.size());
    for (std::size_t i = 0; i < returns.size(); ++i)
      baselines[i] = returns.size() == 1 ? returns[i] : (mean * count - returns[i]) / (count - 1);
    return baselines;
  }
  std::vector<double>& past = past_[key];
  if (kind_ == BaselineKind::window) {
    past.push_back(mean);
    if (past.size() > window_) past.erase(past.begin());
    baselines.assign(returns.size(), mean_of(past));
    return baselines;
  }
  if (past.empty()) past.push_back(start.value_or(mean));
  baselines.assign(returns.size(), past.front());
  past.front() = decay_ * past.front() + (1 - decay_) * mean;
  return baselines;
}

void Baselines::save(State& state) const {
  std::vector<std::uint64_t> problems, controllers, rounds, counts;
  std::vector<double> values;
  for (const auto& [key, past] : past_) {
    problems.push_back(key.problem);
    controllers.push_back(key.controller);
    rounds.push_back(key.round);
    counts.push_back(past.size());
    values.insert(values.end(), past.begin(), past.end());
  }
  put(state, "baseline_problem", std::move(problems));
  put(state, "baseline_controller", std::move(controllers));
  put(state, "baseline_round", std::move(rounds));
  put(state, "baseline_count", std::move(counts));
  put(state, "baseline", std::move(values));
}

void Baselines::load(const State& state) {
  const auto& problems = get<std::uint64_t>(state, "baseline_problem");
  const auto& controllers = get<std::uint64_t>(state, "baseline_controller", problems.size());
  const auto& rounds = get<std::uint64_t>(state, "baseline_round", problems.size());
  const auto& counts = get<std::uint64_t>(state, "baseline_count", problems.size());
  const auto& values = get<double>(state, "baseline");
  past_.clear();
  std::size_t next = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (counts[i] == 0 || counts[i] > values.size() - next)
      throw InputError("checkpoint", "array baseline has {} elements, which does not fit baseline_count",
                       values.size());
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(next);
    next += counts[i];
    past_[{static_cast<std::uint32_t>(problems[i]), static_cast<std::uint32_t>(controllers[i]),
           static_cast<std::uint32_t>(rounds[i])}] = {first, values.begin() + static_cast<std::ptrdiff_t>(next)};
  }
  if (next != values.size())
    throw InputError("checkpoint", "array baseline has {} elements, baseline_count needs {}", values.size(), next);
  for (const double value : values)
    if (!std::isfinite(value)) throw InputError("checkpoint", "array baseline holds {}", value);
}

}  // namespace emplace::learn
