// What a training does before its first update: it evaluates what is known already (the policy that it starts from, the
// recipe's `start`, the quick placers), and polishes the best of it.
#include <algorithm>
#include <limits>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "experiment/run/training.hpp"
#include "verdict/references.hpp"

namespace emplace::experiment {

namespace {

// One problem of an evaluator as its first.
class OneProblem final : public evaluate::Evaluator {
 public:
  OneProblem(evaluate::Evaluator& all, std::size_t problem)
      : all_(all), problem_(static_cast<std::uint32_t>(problem)) {}
  void submit(std::span<const evaluate::EvaluationJob> jobs) override {
    std::vector<evaluate::EvaluationJob> shifted(jobs.begin(), jobs.end());
    for (evaluate::EvaluationJob& job : shifted) job.problem += problem_;
    all_.submit(shifted);
  }
  void poll() override { all_.poll(); }
  std::vector<Outcome> wait() override { return all_.wait(); }
  void cancel() override { all_.cancel(); }
  [[nodiscard]] std::size_t parts_of(std::size_t jobs) const override { return all_.parts_of(jobs); }

 private:
  evaluate::Evaluator& all_;
  std::uint32_t problem_;
};

// How long the quick placers of a problem may take, by prediction, as the verdict's; and of a budget of seconds.
constexpr double quick_seconds = 0.5, quick_part = 0.2;

}  // namespace

void Training::begin(learn::Trainer& trainer, const Session& session) {
  const RecipeOptions& o = recipe_.options;
  if (starts_from_init_) {
    // As many as leave evaluations for one update.
    auto draws = static_cast<std::uint64_t>(o.init_draws);
    std::uint64_t each = 0;
    for (const auto& policy : start_policies_) each += policy->rounds(0);
    const std::uint64_t needed = evaluations_of_start() + trainer.evaluations_per_update();
    if (const std::uint64_t most = limits().evaluations; most > 0 && each > 0)
      draws = std::min(draws, most > needed ? (most - needed) / each : 0);
    trainer.begin_with(starts(), static_cast<std::size_t>(draws));
  }
  if (start_) trainer.begin_at(0, *start_);
  if (o.demonstrations)
    for (std::size_t p = 0; p < problems_.size(); ++p) run_quick_placers(trainer, p, session);
  trainer.end_of_beginning();
}

void Training::run_quick_placers(learn::Trainer& trainer, std::size_t problem, const Session& session) {
  OneProblem evaluator(session.evaluator, problem);
  search::PlacerRequest request;
  request.problem = &problems_[problem];
  request.schedule = schedule_;
  request.objective = objective_;
  request.seed = static_cast<std::uint64_t>(recipe_.options.seed);
  request.evaluator = &evaluator;
  request.stop = [&] { return stop_requested() || (session.stop && session.stop()); };
  const Limits limit = limits();
  if (limit.evaluations > 0) {
    const std::uint64_t needed = trainer.evaluations() + trainer.evaluations_per_update();
    if (needed >= limit.evaluations) return;
    request.evaluations = limit.evaluations - needed;
  }
  // Without a budget of seconds the choice of placers must not depend on the clock.
  verdict::QuickTime time{quick_seconds, std::numeric_limits<double>::infinity()};
  if (limit.seconds > 0) {
    time.most = quick_part * limit.seconds / static_cast<double>(problems_.size());
    time.predicted = std::min(quick_seconds, time.most);
  }
  const verdict::QuickReferences quick = verdict::quick_references(request, time);
  std::uint64_t evaluations = quick.evaluations;
  for (const verdict::Reference& each : quick.found) {
    // All evaluations are counted with the first placement; the numbers of the others follow in any case.
    const std::uint64_t counted = evaluations > quick.found.size() ? evaluations - quick.found.size() + 1 : 1;
    trainer.begin_at(problem, each.placement, each.outcome, counted);
    evaluations = quick.found.size();
  }
}

}  // namespace emplace::experiment
