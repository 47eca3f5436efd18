#include "elites.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "samples.hpp"

namespace emplace {

std::size_t elite_count(double fraction, std::size_t samples) {
  // 0.1 * 30 is a little above 3 in binary; that must not make it 4.
  const double wanted = std::ceil(fraction * static_cast<double>(samples) - 1e-9);
  return std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
}

void EliteWindow::add(std::span<const Rollout> rollouts) {
  const std::vector<std::size_t> begins = sample_begins(rollouts);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const std::span<const Rollout> rounds = rollouts.subspan(begins[s], begins[s + 1] - begins[s]);
    const Outcome& outcome = rounds.back().outcome;
    ++added_[rounds.front().problem];
    if (!outcome.feasible()) continue;
    for (const Rollout& round : rounds) {
      seen_.push_back(decisions_of(round));
      seen_.back().outcome.makespan = outcome.makespan;
    }
  }
}

void EliteWindow::clear() {
  seen_.clear();
  added_.clear();
}

std::size_t EliteWindow::quota_of(std::uint32_t problem) const {
  const std::uint64_t added = added_.at(problem);
  return added >= samples_ ? quota_ : (quota_ * added + samples_ - 1) / samples_;
}

void EliteWindow::keep_elites() {
  std::map<std::uint32_t, std::vector<Ticks>> times;
  for (const Rollout& rollout : seen_)
    if (rollout.round == 0) times[rollout.problem].push_back(rollout.outcome.makespan);
  std::map<std::uint32_t, Ticks> gamma;
  for (auto& [problem, list] : times) {
    const auto nth = list.begin() + static_cast<std::ptrdiff_t>(std::min(quota_of(problem), list.size()) - 1);
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

std::size_t EliteWindow::samples() const {
  return static_cast<std::size_t>(std::ranges::count_if(seen_, [](const Rollout& r) { return r.round == 0; }));
}

void EliteWindow::save(State& state) const {
  std::vector<std::uint64_t> keys, sizes;
  std::vector<std::int64_t> times;
  std::vector<std::uint8_t> actions;
  std::vector<float> observations;
  for (const Rollout& rollout : seen_) {
    keys.insert(keys.end(), {rollout.update, rollout.problem, rollout.sample, rollout.round});
    sizes.insert(sizes.end(), {rollout.actions.size(), rollout.observation.size()});
    times.push_back(rollout.outcome.makespan);
    actions.insert(actions.end(), rollout.actions.begin(), rollout.actions.end());
    observations.insert(observations.end(), rollout.observation.begin(), rollout.observation.end());
  }
  const std::uint64_t count = times.size();
  put(state, "window_key", std::move(keys), {count, 4});
  put(state, "window_size", std::move(sizes), {count, 2});
  put(state, "window_time", std::move(times));
  put(state, "window_actions", std::move(actions));
  put(state, "window_observations", std::move(observations));
  std::vector<std::uint64_t> added;
  for (const auto& [problem, samples] : added_) added.insert(added.end(), {problem, samples});
  put(state, "window_added", std::move(added), {added_.size(), 2});
}

namespace {

// Moves the next `count` of the array's elements, from `next` on, into `to`.
template <class T>
void take(const std::vector<T>& from, std::size_t& next, std::uint64_t count, std::vector<T>& to, const char* name) {
  if (count > from.size() - next)
    throw InputError("checkpoint", "array {} has {} elements, too few for window_size", name, from.size());
  const auto first = from.begin() + static_cast<std::ptrdiff_t>(next);
  to.assign(first, first + static_cast<std::ptrdiff_t>(count));
  next += count;
}

void check_used_up(std::size_t size, std::size_t used, const char* name) {
  if (used != size) throw InputError("checkpoint", "array {} has {} elements, window_size wants {}", name, size, used);
}

constexpr std::uint64_t most_samples = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void EliteWindow::load(const State& state, const Policy& policy, std::size_t problems) {
  const auto& times = get<std::int64_t>(state, "window_time");
  const auto& keys = get<std::uint64_t>(state, "window_key", 4 * times.size());
  const auto& sizes = get<std::uint64_t>(state, "window_size", 2 * times.size());
  const auto& actions = get<std::uint8_t>(state, "window_actions");
  const auto& observations = get<float>(state, "window_observations");
  const auto& added = get<std::uint64_t>(state, "window_added");
  clear();
  std::size_t next_action = 0, next_observation = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    Rollout& rollout = seen_.emplace_back();
    const std::span<const std::uint64_t> key = std::span(keys).subspan(4 * i, 4);
    rollout.update = key[0];
    rollout.problem = static_cast<std::uint32_t>(key[1]);
    rollout.sample = static_cast<std::uint32_t>(key[2]);
    rollout.round = static_cast<std::uint32_t>(key[3]);
    if (key[1] >= problems)
      throw InputError("checkpoint", "array window_key has problem {} at {}, the training has {}", key[1], i, problems);
    const bool begins = key[3] == 0;
    const bool goes_on = i > 0 && times[i] == times[i - 1] &&
                         std::ranges::equal(key.first(3), std::span(keys).subspan(4 * (i - 1), 3)) &&
                         key[3] == keys[4 * i - 1] + 1;
    if (std::max(key[2], key[3]) > most_samples || !(begins || goes_on))
      throw InputError("checkpoint", "array window_key has round {} of sample {} at {}, which follows no round of it",
                       key[3], key[2], i);
    rollout.outcome.makespan = times[i];
    take(actions, next_action, sizes[2 * i], rollout.actions, "window_actions");
    take(observations, next_observation, sizes[2 * i + 1], rollout.observation, "window_observations");
  }
  check_used_up(actions.size(), next_action, "window_actions");
  check_used_up(observations.size(), next_observation, "window_observations");
  const std::vector<std::size_t> begins = sample_begins(seen_);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s)
    policy.check(std::span(seen_).subspan(begins[s], begins[s + 1] - begins[s]));
  std::map<std::uint32_t, std::uint64_t> kept;
  for (const Rollout& rollout : seen_)
    if (rollout.round == 0) ++kept[rollout.problem];
  if (added.size() % 2 != 0)
    throw InputError("checkpoint", "array window_added has {} elements, wanted two a problem", added.size());
  for (std::size_t i = 0; i < added.size(); i += 2) {
    if (added[i] >= problems)
      throw InputError("checkpoint", "array window_added names problem {}, the training has {}", added[i], problems);
    added_[static_cast<std::uint32_t>(added[i])] = added[i + 1];
  }
  for (const auto& [problem, samples] : kept)
    if (const auto found = added_.find(problem); found == added_.end() || found->second < samples)
      throw InputError("checkpoint", "array window_added has fewer samples of problem {} than the window's {}", problem,
                       samples);
}

}  // namespace emplace
