#include "learn/best_samples.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "learn/samples.hpp"

namespace emplace::learn {

OptionMeta keep_best_meta() {
  return {.help =
              "The fastest placement so far of each problem is one more sample of every update (self-imitation, Oh "
              "et al. 2018), and so are polished samples and demonstrations; only with returns = final."};
}

void check_keep_best(const AdvantageOptions& advantages, const ConfigTable& table) {
  if (advantages.returns != "final")
    throw InputError(
        table.place_of("keep_best"),
        "keep_best stores the last outcome of a sample, not those of its rounds: wanted returns = \"final\"");
}

void BestSamples::teach(std::span<const policy::Rollout> samples) {
  if (keep_) taught_.insert(taught_.end(), samples.begin(), samples.end());
}

std::span<const policy::Rollout> BestSamples::join(std::span<const policy::Rollout> drawn) {
  if (!keep_) return drawn;
  const auto takes_part = [&](const policy::Rollout& round) {
    return std::ranges::any_of(drawn, [&](const policy::Rollout& each) { return each.problem == round.problem; });
  };
  joined_.clear();
  for (const policy::Rollout& round : drawn) {
    joined_.push_back(decisions_of(round));
    joined_.back().outcome = round.outcome;
  }
  std::ranges::copy_if(best_.elites(), std::back_inserter(joined_), takes_part);
  std::ranges::copy_if(taught_, std::back_inserter(joined_), takes_part);
  keep_best_of(drawn);
  keep_best_of(taught_);
  taught_.clear();
  return joined_;
}

void BestSamples::keep_best_of(std::span<const policy::Rollout> samples) {
  const std::vector<std::size_t> begins = sample_begins(samples);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const std::span<const policy::Rollout> rounds = samples.subspan(begins[s], begins[s + 1] - begins[s]);
    const bool is_no_better = std::ranges::any_of(best_.elites(), [&](const policy::Rollout& best) {
      return best.problem == rounds.back().problem && best.outcome.makespan <= rounds.back().outcome.makespan;
    });
    if (is_no_better || !rounds.back().outcome.feasible()) continue;
    best_.add(rounds);
    best_.keep_elites();
  }
}

void BestSamples::save(State& state) const {
  if (keep_) best_.save(state);
}

void BestSamples::load(const State& state, const policy::Policy& policy) {
  if (!keep_) return;
  best_.load(state, policy, problems_);
  best_.keep_elites();
}

}  // namespace emplace::learn
