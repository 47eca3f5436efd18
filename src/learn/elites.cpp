#include "learn/elites.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "learn/samples.hpp"

namespace emplace::learn {

std::size_t elite_count(double fraction, std::size_t samples) {
  // 0.1 * 30 is a little above 3 in binary; that must not make it 4.
  const double wanted = std::ceil(fraction * static_cast<double>(samples) - 1e-9);
  return std::max<std::size_t>(1, static_cast<std::size_t>(wanted));
}

void EliteWindow::Rounds::add(const policy::Rollout& round, Ticks time) {
  keys.insert(keys.end(),
              {round.update, round.problem, round.sample, round.round, std::bit_cast<std::uint64_t>(round.progress)});
  sizes.insert(sizes.end(), {round.actions.size(), round.observation.size()});
  times.push_back(time);
  actions.insert(actions.end(), round.actions.begin(), round.actions.end());
  observations.insert(observations.end(), round.observation.begin(), round.observation.end());
}

EliteWindow::Rounds EliteWindow::Rounds::up_to(const std::map<std::uint32_t, Ticks>& gamma) const {
  const auto append = [](auto& to, const auto& from, std::size_t begin, std::size_t count) {
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(begin);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(count));
  };
  Rounds kept;
  std::size_t action = 0, observation = 0;
  for (std::size_t i = 0; i < count(); ++i) {
    const auto limit = gamma.find(problem(i));
    if (limit == gamma.end() || times[i] <= limit->second) {
      append(kept.keys, keys, per_round * i, per_round);
      append(kept.sizes, sizes, 2 * i, 2);
      kept.times.push_back(times[i]);
      append(kept.actions, actions, action, sizes[2 * i]);
      append(kept.observations, observations, observation, sizes[2 * i + 1]);
    }
    action += sizes[2 * i];
    observation += sizes[2 * i + 1];
  }
  return kept;
}

std::vector<policy::Rollout> EliteWindow::Rounds::rollouts() const {
  std::vector<policy::Rollout> list(count());
  auto action = actions.begin();
  auto observation = observations.begin();
  for (std::size_t i = 0; i < count(); ++i) {
    policy::Rollout& rollout = list[i];
    const std::span<const std::uint64_t> key = std::span(keys).subspan(per_round * i, per_round);
    rollout.update = key[0];
    rollout.problem = problem(i);
    rollout.sample = static_cast<std::uint32_t>(key[2]);
    rollout.round = static_cast<std::uint32_t>(key[3]);
    rollout.progress = std::bit_cast<double>(key[4]);
    rollout.outcome.makespan = times[i];
    rollout.actions.assign(action, action + static_cast<std::ptrdiff_t>(sizes[2 * i]));
    rollout.observation.assign(observation, observation + static_cast<std::ptrdiff_t>(sizes[2 * i + 1]));
    action += static_cast<std::ptrdiff_t>(sizes[2 * i]);
    observation += static_cast<std::ptrdiff_t>(sizes[2 * i + 1]);
  }
  return list;
}

void EliteWindow::add(std::span<const policy::Rollout> rollouts) {
  const std::vector<std::size_t> begins = sample_begins(rollouts);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s) {
    const std::span<const policy::Rollout> rounds = rollouts.subspan(begins[s], begins[s + 1] - begins[s]);
    const Outcome& outcome = rounds.back().outcome;
    ++added_[rounds.front().problem];
    if (!outcome.feasible()) continue;
    if (const auto limit = limit_.find(rounds.front().problem);
        limit != limit_.end() && outcome.makespan > limit->second)
      continue;
    for (const policy::Rollout& round : rounds) seen_.add(round, outcome.makespan);
  }
  // This compares rounds with a number of samples: if samples have several rounds, the first selection is early, which
  // costs little.
  if (seen_.count() > std::max(room_, 2 * quota_)) {
    limit_ = slowest_candidates();
    seen_ = seen_.up_to(limit_);
    room_ = 2 * seen_.count();
  }
}

void EliteWindow::clear() {
  seen_ = {};
  added_.clear();
  limit_.clear();
  room_ = 0;
  elites_.clear();
}

std::size_t EliteWindow::quota_of(std::uint32_t problem) const {
  const std::uint64_t added = added_.at(problem);
  return added >= samples_ ? quota_ : (quota_ * added + samples_ - 1) / samples_;
}

template <class Quota>
std::map<std::uint32_t, Ticks> EliteWindow::gammas(const Quota& quota) const {
  std::map<std::uint32_t, std::vector<Ticks>> times;
  for (std::size_t i = 0; i < seen_.count(); ++i)
    if (seen_.begins_sample(i)) times[seen_.problem(i)].push_back(seen_.times[i]);
  std::map<std::uint32_t, Ticks> gamma;
  for (auto& [problem, list] : times) {
    if (list.size() < quota(problem)) continue;
    const auto nth = list.begin() + static_cast<std::ptrdiff_t>(quota(problem) - 1);
    std::nth_element(list.begin(), nth, list.end());
    gamma[problem] = *nth;
  }
  return gamma;
}

std::map<std::uint32_t, Ticks> EliteWindow::slowest_candidates() const {
  return gammas([this](std::uint32_t) { return quota_; });
}

void EliteWindow::keep_elites() {
  seen_ = seen_.up_to(gammas([this](std::uint32_t problem) { return quota_of(problem); }));
  elites_ = seen_.rollouts();
}

double EliteWindow::gamma_seconds() const {
  std::map<std::uint32_t, Ticks> slowest;
  for (const policy::Rollout& rollout : elites_) {
    Ticks& present = slowest[rollout.problem];
    present = std::max(present, rollout.outcome.makespan);
  }
  double sum = 0;
  for (const auto& [problem, ticks] : slowest) sum += to_seconds(ticks);
  return slowest.empty() ? 0 : sum / static_cast<double>(slowest.size());
}

std::size_t EliteWindow::samples() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < seen_.count(); ++i) count += seen_.begins_sample(i) ? 1 : 0;
  return count;
}

void EliteWindow::save(State& state) const {
  Rounds rounds = seen_.up_to(slowest_candidates());
  const std::uint64_t count = rounds.count();
  put(state, "window_key", std::move(rounds.keys), {count, Rounds::per_round});
  put(state, "window_size", std::move(rounds.sizes), {count, 2});
  put(state, "window_time", std::move(rounds.times));
  put(state, "window_actions", std::move(rounds.actions));
  put(state, "window_observations", std::move(rounds.observations));
  std::vector<std::uint64_t> added;
  for (const auto& [problem, samples] : added_) added.insert(added.end(), {problem, samples});
  put(state, "window_added", std::move(added), {added_.size(), 2});
}

namespace {

// InputError unless the sizes in a column of window_size add up to the array's number of elements.
void check_size(std::size_t size, const char* name, const std::vector<std::uint64_t>& sizes, std::size_t column) {
  std::uint64_t left = size;
  for (std::size_t i = column; i < sizes.size(); i += 2) {
    if (sizes[i] > left)
      throw InputError("checkpoint", "array {} has {} elements, too few for window_size", name, size);
    left -= sizes[i];
  }
  if (left > 0)
    throw InputError("checkpoint", "array {} has {} elements, window_size needs {}", name, size, size - left);
}

constexpr std::uint64_t most_samples = std::numeric_limits<std::uint32_t>::max();

}  // namespace

void EliteWindow::check_keys(std::size_t problems) const {
  for (std::size_t i = 0; i < seen_.count(); ++i) {
    const auto key_at = [&](std::size_t at) {
      return std::span(seen_.keys).subspan(Rounds::per_round * at, Rounds::per_round);
    };
    const std::span<const std::uint64_t> key = key_at(i), before = key_at(i == 0 ? 0 : i - 1);
    if (key[1] >= problems)
      throw InputError("checkpoint", "array window_key has problem {} at {}, the training has {}", key[1], i, problems);
    if (const auto progress = std::bit_cast<double>(key[4]); !(progress >= 0 && progress <= 1))
      throw InputError("checkpoint", "array window_key has the progress {} at {}, wanted 0 to 1", progress, i);
    const bool goes_on = i > 0 && seen_.times[i] == seen_.times[i - 1] &&
                         std::ranges::equal(key.first(3), before.first(3)) && key[3] == before[3] + 1 &&
                         key[4] == before[4];
    if (std::max(key[2], key[3]) > most_samples || !(seen_.begins_sample(i) || goes_on))
      throw InputError("checkpoint", "array window_key has round {} of sample {} at {}, which follows no round of it",
                       key[3], key[2], i);
  }
}

void EliteWindow::load_added(const std::vector<std::uint64_t>& added, std::size_t problems) {
  if (added.size() % 2 != 0)
    throw InputError("checkpoint", "array window_added has {} elements, wanted two a problem", added.size());
  for (std::size_t i = 0; i < added.size(); i += 2) {
    if (added[i] >= problems)
      throw InputError("checkpoint", "array window_added names problem {}, the training has {}", added[i], problems);
    added_[static_cast<std::uint32_t>(added[i])] = added[i + 1];
  }
}

void EliteWindow::load(const State& state, const policy::Policy& policy, std::size_t problems) {
  clear();
  seen_.times = get<std::int64_t>(state, "window_time");
  const std::size_t count = seen_.count();
  seen_.keys = get<std::uint64_t>(state, "window_key", Rounds::per_round * count);
  seen_.sizes = get<std::uint64_t>(state, "window_size", 2 * count);
  seen_.actions = get<std::uint8_t>(state, "window_actions");
  seen_.observations = get<float>(state, "window_observations");
  check_keys(problems);
  check_size(seen_.actions.size(), "window_actions", seen_.sizes, 0);
  check_size(seen_.observations.size(), "window_observations", seen_.sizes, 1);
  const std::vector<policy::Rollout> rollouts = seen_.rollouts();
  const std::vector<std::size_t> begins = sample_begins(rollouts);
  for (std::size_t s = 0; s + 1 < begins.size(); ++s)
    policy.check(std::span(rollouts).subspan(begins[s], begins[s + 1] - begins[s]));
  load_added(get<std::uint64_t>(state, "window_added"), problems);
  std::map<std::uint32_t, std::uint64_t> kept;
  for (const policy::Rollout& rollout : rollouts)
    if (rollout.round == 0) ++kept[rollout.problem];
  for (const auto& [problem, samples] : kept)
    if (const auto found = added_.find(problem); found == added_.end() || found->second < samples)
      throw InputError("checkpoint", "array window_added has fewer samples of problem {} than the window's {}", problem,
                       samples);
}

}  // namespace emplace::learn
