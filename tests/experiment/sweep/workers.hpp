// Sweeps without trainings: workers that take random times, and objectives that are functions of the values.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "emplace/base/error.hpp"
#include "emplace/base/random.hpp"
#include "experiment/sweep/strategy.hpp"

namespace emplace::test {

using Judge = std::function<std::optional<double>(const experiment::Assignment&, double share)>;

struct Carried {
  std::vector<experiment::Work> works;                  // in the order in which they were given out
  std::map<std::size_t, experiment::Assignment> tried;  // by trial
  std::set<std::size_t> stopped;
  std::map<std::size_t, double> objectives;  // the last one of each trial
};

// `workers` workers take works whenever they are idle; each work takes a random time drawn with `seed`.
inline Carried carry_out(experiment::SweepStrategy& strategy, std::size_t workers, std::uint64_t seed,
                         const Judge& judge) {
  Carried carried;
  Stream stream({.seed = seed, .purpose = Purpose::test});
  std::multimap<double, experiment::Work> busy;  // by the time at which it ends
  double now = 0;
  for (;;) {
    while (busy.size() < workers) {
      const std::optional<experiment::Work> work = strategy.next();
      if (!work) break;
      carried.works.push_back(*work);
      carried.tried[work->trial] = strategy.assignment(work->trial);
      busy.emplace(now + stream.uniform() + 0.01, *work);
    }
    if (busy.empty()) break;
    const auto [time, work] = *busy.begin();
    busy.erase(busy.begin());
    now = time;
    const auto objective = judge(strategy.assignment(work.trial), strategy.share(work.rung));
    if (objective) carried.objectives[work.trial] = *objective;
    strategy.report(work, objective);
  }
  EMPLACE_CHECK(strategy.finished(), "nothing runs and nothing comes, but the strategy is not finished");
  for (const auto& [trial, assignment] : carried.tried)
    if (strategy.stopped(trial)) carried.stopped.insert(trial);
  return carried;
}

}  // namespace emplace::test
