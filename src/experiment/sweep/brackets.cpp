#include "experiment/sweep/brackets.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"

namespace emplace::experiment {

Brackets::Brackets(const Space& space, std::unique_ptr<Points> points, Rungs rungs, const std::vector<Size>& sizes)
    : space_(space), points_(std::move(points)), rungs_(std::move(rungs)) {
  for (const Size& size : sizes) {
    Bracket bracket{.first_rung = size.first_rung, .sizes = rungs_.sizes(size.trials, size.first_rung)};
    for (std::size_t i = 0; i < size.trials; ++i) {
      bracket.trials.push_back(bracket_of_.size());
      bracket_of_.push_back(brackets_.size());
    }
    brackets_.push_back(std::move(bracket));
    planned_ += rungs_.budgets(size.trials, size.first_rung);
  }
}

std::optional<Work> Brackets::next() {
  for (Bracket& bracket : brackets_) {
    if (bracket.begun == bracket.trials.size()) continue;
    const std::size_t trial = bracket.trials[bracket.begun++];
    // The first rung of a bracket is handed out completely before that of the next bracket, so new trials have
    // ascending numbers.
    if (bracket.at == 0) {
      EMPLACE_CHECK(trial == assignments_.size());
      assignments_.push_back(space_.decode(points_->point(trial)));
    }
    return Work{trial, bracket.first_rung + bracket.at};
  }
  return std::nullopt;
}

void Brackets::report(Work work, std::optional<double> objective) {
  Bracket& bracket = brackets_.at(bracket_of_.at(work.trial));
  EMPLACE_CHECK(work.rung == bracket.first_rung + bracket.at && !bracket.results.contains(work.trial));
  bracket.results[work.trial] = objective;
  if (bracket.results.size() == bracket.trials.size()) promote(bracket);
}

// Trials that failed are never promoted, even if too few others are left for the next rung. Of trials with equal
// objectives the one with the smaller number is promoted.
void Brackets::promote(Bracket& bracket) {
  std::vector<std::pair<double, std::size_t>> best;
  for (const auto& [trial, objective] : bracket.results)
    if (objective) best.emplace_back(*objective, trial);
  std::ranges::sort(best);
  bracket.trials.clear();
  bracket.results.clear();
  bracket.begun = 0;
  if (++bracket.at == bracket.sizes.size()) return;
  for (std::size_t i = 0; i < best.size(); ++i)
    if (i < bracket.sizes[bracket.at])
      bracket.trials.push_back(best[i].second);
    else
      stopped_.insert(best[i].second);
  std::ranges::sort(bracket.trials);
}

bool Brackets::finished() const {
  return std::ranges::all_of(brackets_, [](const Bracket& bracket) { return bracket.done(); });
}

}  // namespace emplace::experiment
