#include "learn/rewards.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "emplace/base/error.hpp"

namespace emplace::learn {

Ticks single_device_time(const Problem& problem) {
  const std::size_t devices = problem.device_count();
  std::vector<Ticks> sum(devices, 0);
  Ticks fastest_sum = 0;
  for (std::size_t op = 0; op < problem.op_count(); ++op) {
    Ticks fastest = std::numeric_limits<Ticks>::max();
    for (std::size_t d = 0; d < devices; ++d) {
      const Ticks time = problem.op_time[op * devices + d];
      if (time == cannot_run)
        sum[d] = cannot_run;
      else
        fastest = std::min(fastest, time);
      if (sum[d] != cannot_run) sum[d] += time;
    }
    fastest_sum += fastest;
  }
  std::erase(sum, cannot_run);
  return sum.empty() ? fastest_sum : *std::min_element(sum.begin(), sum.end());
}

void describe(RewardOptions& o, OptionVisitor& visit) {
  visit("reward", o.reward,
        {.choices = {"sqrt", "time", "log", "log1p", "inverse"},
         .help = "Reward of a step time t: -sqrt(t), -t, -log t, -log(1 + t) or 1/t."});
  visit("time_unit", o.time_unit,
        {.min = 0,
         .unit = "s",
         .help = "Unit of step times, for example the step time of a reference placement; 0: the problem's best "
                 "single-device time."});
  visit("infeasible", o.infeasible,
        {.choices = {"fixed", "penalty", "slowest", "zero"},
         .help = "Reward of an infeasible placement: that of the step time t_fail, its own minus a penalty for missing "
                 "memory, that of twice the slowest feasible step time so far, or 0."});
  visit("t_fail", o.t_fail,
        {.min = 0,
         .unit = "s",
         .help = "Step time of an infeasible placement; 0: fail_factor times the best single-device time.",
         .only_with = {{"infeasible", {"zero"}, true}}});
  visit("fail_factor", o.fail_factor,
        {.min = 0,
         .above_min = true,
         .help = "Step time of an infeasible placement, as a multiple of the problem's best single-device time, memory "
                 "ignored (t_fail = 0).",
         .only_with = {{"t_fail", {"0"}}, {"infeasible", {"zero"}, true}}});
  visit("penalty_per_gb", o.penalty_per_gb,
        {.min = 0,
         .help = "Subtracted from the reward for every 1e9 missing bytes (infeasible = penalty).",
         .only_with = {{"infeasible", {"penalty"}}}});
  visit("penalty_cap", o.penalty_cap,
        {.min = 0,
         .help = "No reward falls below minus this (infeasible = penalty); 0: no cap.",
         .only_with = {{"infeasible", {"penalty"}}}});
  visit("skip_failing_after", o.skip_failing_after,
        {.min = 0,
         .unit = "updates",
         .help = "After this many updates infeasible placements are excluded from learning; 1000000000: never."});
}

void check(const RewardOptions& o, const ConfigTable& table) {
  if (o.t_fail > 0 && o.fail_factor != RewardOptions().fail_factor)
    throw InputError(table.place_of("fail_factor"), "t_fail ({} s) and fail_factor ({}) are alternatives: give one",
                     o.t_fail, o.fail_factor);
}

namespace {

double (*reward_called(const std::string& name))(double) {
  if (name == "sqrt") return [](double t) { return -std::sqrt(t); };
  if (name == "time") return [](double t) { return -t; };
  if (name == "log") return [](double t) { return -std::log(t); };
  if (name == "log1p") return [](double t) { return -std::log1p(t); };
  EMPLACE_CHECK(name == "inverse", "no reward is called {}", name);
  return [](double t) { return 1 / t; };
}

}  // namespace

Rewards::Rewards(RewardOptions options, std::span<const policy::PolicyProblem> problems)
    : options_(std::move(options)),
      reward_of_(reward_called(options_.reward)),
      cap_(options_.infeasible == "penalty" && options_.penalty_cap > 0 ? options_.penalty_cap
                                                                        : std::numeric_limits<double>::infinity()) {
  for (const policy::PolicyProblem& problem : problems)
    single_device_s_.push_back(to_seconds(single_device_time(*problem.problem)));
}

double Rewards::single_device_seconds(std::uint32_t problem) const {
  EMPLACE_CHECK(problem < single_device_s_.size(), "problem {} of {}", problem, single_device_s_.size());
  return single_device_s_[problem];
}

double Rewards::of_seconds(std::uint32_t problem, double seconds) const {
  return reward_of_(seconds / (options_.time_unit > 0 ? options_.time_unit : single_device_seconds(problem)));
}

double Rewards::failing(std::uint32_t problem) const {
  if (options_.infeasible == "zero") return 0;
  return capped(of_seconds(
      problem, options_.t_fail > 0 ? options_.t_fail : options_.fail_factor * single_device_seconds(problem)));
}

double Rewards::capped(double reward) const { return std::max(reward, -cap_); }

void Rewards::see(std::span<const policy::Rollout> rollouts) {
  for (const policy::Rollout& rollout : rollouts)
    if (rollout.outcome.feasible()) {
      Ticks& slowest = slowest_[rollout.problem];
      slowest = std::max(slowest, rollout.outcome.makespan);
    }
}

std::optional<double> Rewards::of(const policy::Rollout& rollout, std::uint64_t update) const {
  const Outcome& outcome = rollout.outcome;
  const std::uint32_t problem = rollout.problem;
  if (outcome.feasible()) return capped(of_seconds(problem, to_seconds(outcome.makespan)));
  if (update > static_cast<std::uint64_t>(options_.skip_failing_after)) return std::nullopt;
  if (options_.infeasible == "slowest") {
    const auto slowest = slowest_.find(problem);
    if (slowest == slowest_.end()) return std::nullopt;
    return of_seconds(problem, 2 * to_seconds(slowest->second));
  }
  if (options_.infeasible == "penalty" && outcome.why == Infeasible::memory && outcome.timed())
    return capped(of_seconds(problem, to_seconds(outcome.makespan)) -
                  options_.penalty_per_gb * static_cast<double>(outcome.overflow) / 1e9);
  return failing(problem);
}

void Rewards::save(State& state) const {
  std::vector<std::uint64_t> problems;
  std::vector<std::int64_t> times;
  for (const auto& [problem, slowest] : slowest_) {
    problems.push_back(problem);
    times.push_back(slowest);
  }
  put(state, "slowest_problem", std::move(problems));
  put(state, "slowest_time", std::move(times));
}

void Rewards::load(const State& state) {
  const auto& problems = get<std::uint64_t>(state, "slowest_problem");
  const auto& times = get<std::int64_t>(state, "slowest_time", problems.size());
  slowest_.clear();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (times[i] <= 0) throw InputError("checkpoint", "array slowest_time holds {}, wanted a time above 0", times[i]);
    slowest_[static_cast<std::uint32_t>(problems[i])] = times[i];
  }
}

}  // namespace emplace::learn
