// When a training ends: by its budgets, after its patience, or at the lower bound.
#include <algorithm>

#include "base/text.hpp"
#include "experiment/run/training.hpp"

namespace emplace::experiment {

Training::Limits Training::limits() const {
  const RecipeOptions& o = recipe_.options;
  Limits limits{static_cast<std::uint64_t>(o.updates), static_cast<std::uint64_t>(o.evaluations), o.seconds};
  if (limits.updates == 0 && limits.evaluations == 0 && limits.seconds == 0)
    limits.updates = learner_->default_updates();
  return limits;
}

double Training::budget_used(std::uint64_t updates, std::uint64_t evaluations) const {
  const Limits limit = limits();
  const auto share_of = [](std::uint64_t used, std::uint64_t all) {
    return all == 0 ? 0.0 : static_cast<double>(used) / static_cast<double>(all);
  };
  const double of_time = limit.seconds > 0 ? seconds_ / limit.seconds : 0;
  return std::max({share_of(updates, limit.updates), share_of(evaluations, limit.evaluations), of_time});
}

std::string Training::budget() const {
  const Limits limit = limits();
  std::vector<std::string> budgets;
  const auto add = [&](std::uint64_t count, const char* unit) {
    if (count > 0) budgets.push_back(fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s"));
  };
  add(limit.updates, "update");
  add(limit.evaluations, "evaluation");
  if (limit.seconds > 0) budgets.push_back(human_seconds(limit.seconds));
  return join(budgets, " or ") + (budgets.size() > 1 ? ", whichever comes first" : "");
}

std::uint64_t Training::updates_without_gain(const learn::Trainer& trainer) const {
  std::uint64_t latest = 0;  // the number of the last evaluation that made a problem's best placement better
  for (const learn::Best& best : trainer.best()) latest = std::max(latest, best.evaluation);
  const auto column = history_.find("evaluations");
  if (column == history_.end()) return 0;
  const std::vector<double>& evaluations = column->second;  // after each update
  if (evaluations.empty()) return 0;
  // From the metrics, because a run that goes on has not loaded what it once started from.
  double of_start = evaluations.front() - static_cast<double>(evaluations_of_first_update());
  if (const auto polish = history_.find("polish_evaluations"); polish != history_.end())
    of_start -= polish->second.front();
  const auto gained = std::ranges::lower_bound(evaluations, static_cast<double>(latest));
  const auto since = static_cast<std::uint64_t>(evaluations.end() - gained);
  return static_cast<double>(latest) > of_start && since > 0 ? since - 1 : since;
}

bool Training::is_at_bound(const learn::Trainer& trainer) const {
  if (bounds_.empty()) return false;
  for (std::size_t p = 0; p < bounds_.size(); ++p) {
    const learn::Best& best = trainer.best()[p];
    if (!best.any || !best.outcome.feasible() || best.outcome.makespan > bounds_[p]) return false;
  }
  return true;
}

bool Training::ends_early(const learn::Trainer& trainer) const {
  const auto patience = static_cast<std::uint64_t>(recipe_.options.patience);
  return is_at_bound(trainer) || (patience > 0 && updates_without_gain(trainer) >= patience);
}

}  // namespace emplace::experiment
