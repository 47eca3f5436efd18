#include "advantages.hpp"

#include <algorithm>
#include <cmath>

namespace emplace {

std::vector<double> BaselineAdvantages::of(std::span<const Rollout> rollouts) {
  std::map<std::uint32_t, std::vector<std::size_t>> batches;
  for (std::size_t i = 0; i < rollouts.size(); ++i) batches[rollouts[i].problem].push_back(i);

  std::vector<double> advantages(rollouts.size(), 0.0);
  for (const auto& [problem, batch] : batches) {
    PerProblem& state = problems_[problem];
    for (const std::size_t i : batch)
      if (rollouts[i].outcome.feasible()) state.slowest = std::max(state.slowest, rollouts[i].outcome.makespan);
    if (state.slowest == 0) continue;

    std::vector<double> costs;
    for (const std::size_t i : batch) {
      const Outcome& outcome = rollouts[i].outcome;
      const double seconds = outcome.feasible() ? to_seconds(outcome.makespan) : 2 * to_seconds(state.slowest);
      costs.push_back(form_ == CostForm::square_root ? std::sqrt(seconds) : seconds);
    }
    const auto count = static_cast<double>(costs.size());
    double mean = 0;
    for (const double cost : costs) mean += cost;
    mean /= count;
    if (state.restart) state.baseline = mean;
    state.restart = false;

    const auto [least, most] = std::minmax_element(costs.begin(), costs.end());
    if (*least < *most) {
      double variance = 0;
      for (const double cost : costs) variance += (cost - mean) * (cost - mean);
      const double deviation = std::sqrt(variance / count);
      for (std::size_t k = 0; k < costs.size(); ++k)
        advantages[batch[k]] = (state.baseline - costs[k]) / deviation / count;
    }
    state.baseline = 0.9 * state.baseline + 0.1 * mean;
  }
  return advantages;
}

void BaselineAdvantages::restart() {
  for (auto& [problem, state] : problems_) state.restart = true;
}

void BaselineAdvantages::save(State& state) const {
  std::vector<std::uint64_t> ids;
  std::vector<double> baselines;
  std::vector<std::uint8_t> restarts;
  std::vector<std::int64_t> slowest;
  for (const auto& [problem, of_problem] : problems_) {
    ids.push_back(problem);
    baselines.push_back(of_problem.baseline);
    restarts.push_back(of_problem.restart ? 1 : 0);
    slowest.push_back(of_problem.slowest);
  }
  put(state, "baseline_problem", std::move(ids));
  put(state, "baseline", std::move(baselines));
  put(state, "baseline_restarts", std::move(restarts));
  put(state, "slowest_time", std::move(slowest));
}

void BaselineAdvantages::load(const State& state) {
  const auto& ids = get<std::uint64_t>(state, "baseline_problem");
  const auto& baselines = get<double>(state, "baseline", ids.size());
  const auto& restarts = get<std::uint8_t>(state, "baseline_restarts", ids.size());
  const auto& slowest = get<std::int64_t>(state, "slowest_time", ids.size());
  problems_.clear();
  for (std::size_t i = 0; i < ids.size(); ++i)
    problems_[static_cast<std::uint32_t>(ids[i])] = {baselines[i], restarts[i] != 0, slowest[i]};
}

}  // namespace emplace
