#include "experiment/learned/policy_search.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "learn/likelihood.hpp"
#include "learn/sampling.hpp"
#include "search/local/chains.hpp"
#include "search/local/local_search.hpp"

namespace emplace::experiment {

void describe(LearnedOptions& o, OptionVisitor& visit) {
  visit("rounds", o.rounds,
        {.min = 0,
         .max = 1000,
         .help = "Rounds of draws and climbs, with a fine-tuning of the policy before each but the first; 0: one for "
                 "each 3 seconds or 20000 evaluations of the budget, at most 16."});
  visit("draws", o.draws, {.min = 1, .max = 100'000, .help = "Placements that the policy draws in a round, at most."});
  visit("width", o.width,
        {.min = 1,
         .max = 10'000,
         .help =
             "Number of searches in parallel with a budget of evaluations; with only a budget of seconds there is one "
             "for each worker."});
  visit("fit_steps", o.fit_steps,
        {.min = 0, .max = 100'000, .help = "Gradient steps of a fine-tuning to the best placement so far."});
  visit("learning_rate", o.learning_rate,
        {.min = 0, .max = 1, .above_min = true, .help = "Learning rate of the fine-tuning."});
  visit("moves_per_unit", o.moves_per_unit,
        {.min = 1,
         .max = 1'000'000'000,
         .help = "Evaluations per unit if there is no budget of evaluations or seconds."});
}

namespace {

// The device of each unit in a placement that may split units: the one with most of the unit's work among those that
// can run it all.
std::vector<std::uint8_t> devices_of_units(const Problem& problem, const Grouping& units, const Placement& placement) {
  std::vector<std::uint8_t> device(units.count());
  for (std::size_t unit = 0; unit < units.count(); ++unit) {
    std::vector<double> work(problem.device_count(), -1.0);
    for (std::size_t d = 0; d < work.size(); ++d)
      if (units.allows(unit, d)) work[d] = 0;
    for (const std::uint32_t op : units.members[unit]) {
      double& sum = work[placement.device[op]];
      if (sum >= 0) sum += 1 + static_cast<double>(problem.time(OpId{op}, DeviceId{placement.device[op]}));
    }
    device[unit] = static_cast<std::uint8_t>(std::ranges::max_element(work) - work.begin());
  }
  return device;
}

class PolicySearch {
 public:
  PolicySearch(const search::PlacerRequest& request, const LearnedOptions& options, const TrainedPolicy& trained,
               search::SearchSession& session)
      : request_(request),
        options_(options),
        session_(session),
        problem_(request.problem, trained.group(*request.problem)),
        policy_(trained.make({&problem_, 1})),
        chunks_(1),
        ascent_({.learning_rate = options.learning_rate}) {}

  void run() {
    const std::size_t rounds = round_count();
    for (std::size_t round = 0; round < rounds && !session_.exhausted(); ++round) {
      if (round > 0 && options_.fit_steps > 0) learn_from_best();
      const double left = 1 / static_cast<double>(rounds - round);
      for (const Placement& drawn : draw(round, draw_share * left)) improve(drawn, improve_share * left);
      climb(round, left);
    }
  }

 private:
  static constexpr std::size_t batch = 8;       // draws between two looks at the budget
  static constexpr std::size_t improved = 1;    // draws of a round that are improved
  static constexpr std::size_t coarsest = 32;   // units of the coarsest level on which they are
  static constexpr double draw_share = 0.1;     // of a round's budget
  static constexpr double improve_share = 0.1;  // for each draw

  [[nodiscard]] std::size_t round_count() const {
    constexpr double most = 16, seconds_of_round = 3, evaluations_of_round = 20'000;
    if (options_.rounds > 0) return static_cast<std::size_t>(options_.rounds);
    const double rounds = session_.counts_evaluations()
                              ? static_cast<double>(session_.evaluations_left()) / evaluations_of_round
                              : *session_.seconds_left() / seconds_of_round;
    return static_cast<std::size_t>(std::clamp(rounds, 1.0, most));
  }

  // The best different placements among the policy's likeliest one and draws, the best first.
  std::vector<Placement> draw(std::size_t round, double share) {
    const auto evaluations = static_cast<std::uint64_t>(share * static_cast<double>(session_.evaluations_left()));
    const std::optional<double> seconds = session_.seconds_left();
    std::vector<policy::Rollout> best, rollouts;
    learn::SamplingRequest next{.seed = request_.seed,
                                .update = learn::update_after_training(request_.seed) + 1'000'000 * round,
                                .samples = 1,
                                .greedy = true,
                                .schedule = request_.schedule};
    for (std::size_t drawn = 0; drawn < static_cast<std::size_t>(options_.draws) && !session_.exhausted();) {
      learn::sample_rollouts(*policy_, *request_.evaluator, {&problem_, 1}, next, rollouts);
      drawn += rollouts.size();
      made_ += rollouts.size();
      session_.searched(made_);
      for (policy::Rollout& each : rollouts) {
        session_.offer(each.placement, each.outcome);
        if (std::ranges::none_of(best, [&](const auto& other) { return other.actions == each.actions; }))
          best.push_back(std::move(each));
      }
      std::ranges::stable_sort(best, [](const auto& a, const auto& b) { return better(a.outcome, b.outcome); });
      if (best.size() > improved) best.resize(improved);
      if (drawn >= evaluations) break;
      if (seconds && *seconds - *session_.seconds_left() > share * *seconds) break;
      ++next.update;
      next.greedy = false;
      next.samples = std::min<std::uint64_t>(batch, evaluations - drawn);
    }
    std::vector<Placement> placements;
    for (policy::Rollout& each : best) placements.push_back(std::move(each.placement));
    return placements;
  }

  // Local search on the policy's units, from coarse to fine, which costs little and moves what the policy decided.
  void improve(Placement from, double share) {
    if (session_.exhausted()) return;
    if (levels_.empty())
      levels_ = levels_of(problem_.grouping, coarsest, [&](const Grouping& finer) {
        return coarsen(*request_.problem, finer, std::max(coarsest, finer.count() / 2));
      });
    const double each = share / static_cast<double>(levels_.size());
    for (const Grouping& level : levels_) {
      if (session_.exhausted()) return;
      search::LocalSearchOptions budget{.seed = request_.seed, .evaluations = {}, .seconds = {}, .stop = request_.stop};
      if (session_.counts_evaluations())
        budget.evaluations = 1 + static_cast<std::uint64_t>(each * static_cast<double>(session_.evaluations_left()));
      if (session_.seconds_left()) budget.seconds = each * *session_.seconds_left();
      search::LocalSearchResult found = search::local_search(*request_.problem, level, request_.schedule, from, budget);
      session_.searched(made_ += found.guesses + found.checks);
      session_.offer(found.placement, found.outcome);
      from = std::move(found.placement);
    }
  }

  void climb(std::size_t round, double share) {
    const search::PortfolioEntry entry{.method = "climb", .seed = search::seed_of_chain(request_.seed, round)};
    session_.try_placers({&entry, 1}, share);
  }

  void learn_from_best() {
    policy::Rollout best;
    best.actions = devices_of_units(*request_.problem, problem_.grouping, session_.placement());
    learn::refit(*policy_, {&best, 1}, chunks_, ascent_, 0, static_cast<int>(options_.fit_steps));
  }

  const search::PlacerRequest& request_;
  const LearnedOptions& options_;
  search::SearchSession& session_;
  policy::PolicyProblem problem_;
  std::unique_ptr<policy::Policy> policy_;
  learn::ChunkedGradient chunks_;
  learn::Ascent ascent_;
  std::vector<Grouping> levels_;
  std::uint64_t made_ = 0;
};

}  // namespace

void search_by_policy(const search::PlacerRequest& request, const LearnedOptions& options, const TrainedPolicy& trained,
                      search::SearchSession& session) {
  PolicySearch(request, options, trained, session).run();
}

}  // namespace emplace::experiment
