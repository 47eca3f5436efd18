#include "learn/advantages.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "learn/samples.hpp"

namespace emplace::learn {

namespace {

ReturnForm form_of(const std::string& name) {
  if (name == "final") return ReturnForm::final;
  if (name == "step") return ReturnForm::step;
  if (name == "best") return ReturnForm::best;
  return name == "own" ? ReturnForm::own : ReturnForm::late;
}

BaselineKind kind_of(const std::string& name) {
  if (name == "none") return BaselineKind::none;
  if (name == "moving-average") return BaselineKind::moving_average;
  return name == "window" ? BaselineKind::window : BaselineKind::leave_one_out;
}

// Rollouts with a return, by the baseline that they are compared with.
using Cells = std::map<Baselines::Key, std::vector<std::size_t>>;

// Standard deviation of the returns from their round's mean, by problem.
std::map<std::uint32_t, double> spreads(const Cells& cells_by_controller, std::span<const double> returns) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<double>> by_round;
  for (const auto& [key, rollouts] : cells_by_controller) {
    std::vector<double>& values = by_round[{key.problem, key.round}];
    for (const std::size_t i : rollouts) values.push_back(returns[i]);
  }
  struct Sum {
    double squares = 0, count = 0;
  };
  std::map<std::uint32_t, Sum> sums;
  for (const auto& [key, values] : by_round) {
    const auto count = static_cast<double>(values.size());
    double mean = 0;
    for (const double value : values) mean += value;
    mean /= count;
    Sum& sum = sums[key.first];
    sum.count += count;
    // The deviation of equal values must be 0, but they may differ from their rounded mean.
    if (std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end()) continue;
    for (const double value : values) sum.squares += (value - mean) * (value - mean);
  }
  std::map<std::uint32_t, double> result;
  for (const auto& [problem, sum] : sums) result[problem] = std::sqrt(sum.squares / sum.count);
  return result;
}

}  // namespace

void describe(AdvantageOptions& o, OptionVisitor& visit) {
  describe(o.reward, visit);
  visit("returns", o.returns,
        {.choices = {"final", "step", "best", "own", "late"},
         .help = "Return of a round: the last round's reward, the (discounted) sum of gains from this round on, the "
                 "gain up to the best later round, its own reward (discounted from round to round), or the sum of all "
                 "rewards (discounted towards the first)."});
  visit("discount", o.discount,
        {.min = 0,
         .max = 1,
         .help = "Weight of the next round's return, or reward (returns = step, own, late).",
         .only_with = {{"returns", {"step", "own", "late"}}}});
  visit("baseline", o.baseline,
        {.choices = {"moving-average", "window", "leave-one-out", "none"},
         .help = "What returns are compared with, for each problem and round: a moving average of batch means, the "
                 "mean of the last batches, the mean of the batch's other samples, or nothing."});
  visit("baseline_decay", o.baseline_decay,
        {.min = 0,
         .max = 1,
         .help = "Share of a moving average that an update keeps.",
         .only_with = {{"baseline", {"moving-average"}}}});
  visit("baseline_start", o.baseline_start,
        {.choices = {"failing", "first"},
         .help = "A moving average begins at the reward of t_fail, or at its first batch's mean.",
         .only_with = {{"baseline", {"moving-average"}}}});
  visit("baseline_window", o.baseline_window,
        {.min = 1,
         .max = 1e6,
         .help = "Number of batches in a window, the present one included.",
         .only_with = {{"baseline", {"window"}}}});
  visit("normalize", o.normalize, {.help = "Divide advantages by the spread of the problem's returns in the batch."});
}

void check(const AdvantageOptions& o, const ConfigTable& table, int samples, int controllers) {
  check(o.reward, table);
  const auto teaches_nothing = [&](const char* option, const std::string& what) {
    throw InputError(table.place_of(table.contains(option) ? option : "samples_per_update"),
                     "{}: with {} sample{} an update{} every advantage is 0, wanted more samples", what, samples,
                     samples == 1 ? "" : "s", controllers > 1 ? fmt::format(" for {} controllers", controllers) : "");
  };
  if (o.baseline == "leave-one-out" && samples == controllers)
    teaches_nothing("baseline", "baseline 'leave-one-out' needs other samples");
  if (o.baseline == "window" && o.baseline_window == 1 && samples == controllers)
    teaches_nothing("baseline_window", "a baseline_window of 1 compares a batch with itself");
  if (o.normalize && samples == 1) teaches_nothing("normalize", "'normalize' divides by the spread within an update");

  if (o.baseline == "moving-average" && o.baseline_start == "failing" && o.returns != "final")
    throw InputError(table.place_of("returns"),
                     "returns '{}' are not the reward of one placement, so their moving average cannot begin at the "
                     "reward of a failing placement: set baseline_start = \"first\" or another baseline",
                     o.returns);
}

bool AdvantageBatch::all_zero() const {
  return std::all_of(value.begin(), value.end(), [](double advantage) { return advantage == 0; });
}

Advantages::Advantages(const AdvantageOptions& o, std::span<const policy::PolicyProblem> problems,
                       std::size_t controllers)
    : rewards_(o.reward, problems),
      baselines_(kind_of(o.baseline), o.baseline_decay, static_cast<std::size_t>(o.baseline_window)),
      form_(form_of(o.returns)),
      discount_(o.discount),
      starts_at_failing_(o.baseline_start == "failing"),
      normalize_(o.normalize),
      controllers_(controllers) {}

bool Advantages::rewards_of(std::span<const policy::Rollout> rounds, std::uint64_t update,
                            std::vector<double>& rewards) const {
  rewards.clear();
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const bool counts = form_ != ReturnForm::final || r + 1 == rounds.size();
    const std::optional<double> reward = counts ? rewards_.of(rounds[r], update) : 0.0;
    if (!reward) return false;
    rewards.push_back(*reward);
  }
  return true;
}

void Advantages::see(std::span<const policy::Rollout> rollouts) { rewards_.see(rollouts); }

Advantages::Returns Advantages::returns(std::span<const policy::Rollout> rollouts, std::uint64_t update,
                                        AdvantageBatch& batch) const {
  const std::size_t samples = batch.begins.size() - 1;
  std::map<std::uint32_t, std::size_t> samples_of, seen;
  if (controllers_ > 1)
    for (std::size_t s = 0; s < samples; ++s) ++samples_of[rollouts[batch.begins[s]].problem];

  Returns returns{std::vector<double>(rollouts.size(), 0.0), {}};
  std::vector<double> rewards, of_rounds;  // of one sample
  for (std::size_t s = 0; s < samples; ++s) {
    const std::size_t begin = batch.begins[s];
    const std::span<const policy::Rollout> rounds = rollouts.subspan(begin, batch.begins[s + 1] - begin);
    const std::uint32_t problem = rounds.front().problem;
    const std::size_t controller = controllers_ > 1 ? seen[problem]++ * controllers_ / samples_of[problem] : 0;
    if (!rewards_of(rounds, update, rewards)) continue;
    batch.used.push_back(s);
    returns_of(rewards, form_, discount_, of_rounds);
    for (std::size_t r = 0; r < rounds.size(); ++r) {
      if (rounds[r].actions.empty()) continue;
      returns.value[begin + r] = of_rounds[r];
      returns.cells[{problem, static_cast<std::uint32_t>(controller), static_cast<std::uint32_t>(r)}].push_back(begin +
                                                                                                                r);
    }
  }
  return returns;
}

AdvantageBatch Advantages::of(std::span<const policy::Rollout> rollouts, std::uint64_t update) {
  see(rollouts);
  AdvantageBatch batch;
  batch.begins = sample_begins(rollouts);
  batch.value.assign(rollouts.size(), 0.0);
  const auto [returns, cells] = this->returns(rollouts, update, batch);
  const std::map<std::uint32_t, double> spread =
      normalize_ ? spreads(cells, returns) : std::map<std::uint32_t, double>{};
  std::size_t decisions = 0;
  for (const auto& [key, list] : cells) {
    std::vector<double> of_key;
    for (const std::size_t i : list) of_key.push_back(returns[i]);
    const std::vector<double> baselines =
        baselines_.of(key, of_key, starts_at_failing_ ? std::optional(rewards_.failing(key.problem)) : std::nullopt);
    const double unit = normalize_ ? spread.at(key.problem) : 1;
    for (std::size_t k = 0; k < list.size(); ++k) {
      double& advantage = batch.value[list[k]];
      advantage = unit > 0 ? (of_key[k] - baselines[k]) / unit : 0;
      if (!std::isfinite(advantage)) throw NotFinite("an advantage is not finite ({})", advantage);
      batch.baseline += baselines[k];
    }
    decisions += list.size();
  }
  if (decisions > 0) batch.baseline /= static_cast<double>(decisions);
  return batch;
}

void Advantages::save(State& state) const {
  rewards_.save(state);
  baselines_.save(state);
}

void Advantages::load(const State& state) {
  rewards_.load(state);
  baselines_.load(state);
}

}  // namespace emplace::learn
