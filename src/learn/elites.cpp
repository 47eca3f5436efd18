#include "elites.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace emplace {

std::size_t elite_count(double fraction, std::size_t samples) {
  // 0.1 * 30 is a little above 3 in binary; that must not make it 4.
  const double wanted = std::ceil(fraction * static_cast<double>(samples) - 1e-9);
  return std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
}

void EliteWindow::add(std::span<const Rollout> rollouts) {
  for (const Rollout& rollout : rollouts) {
    if (!rollout.outcome.feasible()) continue;
    Rollout kept;
    kept.problem = rollout.problem;
    kept.actions = rollout.actions;
    kept.outcome = rollout.outcome;
    seen_.push_back(std::move(kept));
  }
}

void EliteWindow::keep_elites() {
  std::map<std::uint32_t, std::vector<Ticks>> times;
  for (const Rollout& rollout : seen_) times[rollout.problem].push_back(rollout.outcome.makespan);
  std::map<std::uint32_t, Ticks> gamma;
  for (auto& [problem, list] : times) {
    const auto nth = list.begin() + static_cast<std::ptrdiff_t>(std::min(quota_, list.size()) - 1);
    std::nth_element(list.begin(), nth, list.end());
    gamma[problem] = *nth;
  }
  std::erase_if(seen_, [&](const Rollout& rollout) { return rollout.outcome.makespan > gamma.at(rollout.problem); });
}

double EliteWindow::gamma_seconds() const {
  std::map<std::uint32_t, Ticks> slowest;
  for (const Rollout& rollout : seen_) {
    Ticks& present = slowest[rollout.problem];
    present = std::max(present, rollout.outcome.makespan);
  }
  double sum = 0;
  for (const auto& [problem, ticks] : slowest) sum += to_seconds(ticks);
  return slowest.empty() ? 0 : sum / static_cast<double>(slowest.size());
}

void EliteWindow::save(State& state) const {
  std::vector<std::uint64_t> problems, sizes;
  std::vector<std::int64_t> times;
  std::vector<std::uint8_t> actions;
  for (const Rollout& rollout : seen_) {
    problems.push_back(rollout.problem);
    sizes.push_back(rollout.actions.size());
    times.push_back(rollout.outcome.makespan);
    actions.insert(actions.end(), rollout.actions.begin(), rollout.actions.end());
  }
  put(state, "window_problem", std::move(problems));
  put(state, "window_size", std::move(sizes));
  put(state, "window_time", std::move(times));
  put(state, "window_actions", std::move(actions));
}

void EliteWindow::load(const State& state) {
  const auto& problems = get<std::uint64_t>(state, "window_problem");
  const auto& sizes = get<std::uint64_t>(state, "window_size", problems.size());
  const auto& times = get<std::int64_t>(state, "window_time", problems.size());
  const auto& actions = get<std::uint8_t>(state, "window_actions");
  seen_.clear();
  std::size_t next = 0;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (sizes[i] > actions.size() - next)
      throw InputError("checkpoint", "array window_actions has {} elements, too few for window_size", actions.size());
    Rollout rollout;
    rollout.problem = static_cast<std::uint32_t>(problems[i]);
    rollout.outcome.makespan = times[i];
    const auto first = actions.begin() + static_cast<std::ptrdiff_t>(next);
    rollout.actions.assign(first, first + static_cast<std::ptrdiff_t>(sizes[i]));
    next += sizes[i];
    seen_.push_back(std::move(rollout));
  }
  if (next != actions.size())
    throw InputError("checkpoint", "array window_actions has {} elements, window_size wants {}", actions.size(), next);
}

}  // namespace emplace
