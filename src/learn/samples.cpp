#include "learn/samples.hpp"

#include <set>

namespace emplace::learn {

std::vector<std::size_t> sample_begins(std::span<const policy::Rollout> rollouts) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < rollouts.size(); ++i)
    if (i == 0 || rollouts[i].round == 0) begins.push_back(i);
  begins.push_back(rollouts.size());
  return begins;
}

std::size_t problem_count(std::span<const policy::Rollout> rollouts) {
  std::set<std::uint32_t> problems;
  for (const policy::Rollout& rollout : rollouts) problems.insert(rollout.problem);
  return problems.size();
}

policy::Rollout decisions_of(const policy::Rollout& rollout) {
  policy::Rollout decisions;
  decisions.update = rollout.update;
  decisions.progress = rollout.progress;
  decisions.problem = rollout.problem;
  decisions.sample = rollout.sample;
  decisions.round = rollout.round;
  decisions.actions = rollout.actions;
  decisions.observation = rollout.observation;
  return decisions;
}

}  // namespace emplace::learn
