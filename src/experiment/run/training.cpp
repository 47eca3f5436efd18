#include "experiment/run/training.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/not_finite.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "experiment/run/tensorboard.hpp"

namespace emplace::experiment {

namespace {

std::string describe_progress(const learn::UpdateReport& report, std::uint64_t last_update, const learn::Best& best) {
  std::string text = last_update > 0 ? fmt::format("update {}/{}", report.update, last_update)
                                     : fmt::format("update {}", report.update);
  if (best.any && best.outcome.timed())
    text += fmt::format("  best {}{}", human_seconds(to_seconds(best.outcome.makespan)),
                        best.outcome.feasible() ? "" : " (infeasible)");
  if (std::isfinite(report.mean_seconds)) text += fmt::format("  mean {}", human_seconds(report.mean_seconds));
  return text + fmt::format("  feasible {:.0f} %  {} placements", 100 * report.feasible_share, report.evaluations);
}

// For a run without any checkpoint, which begins again with its first update. A finished run had one, and would be
// trained a second time without anyone having asked for it.
void check_may_begin_again(const RunFolder& folder) {
  const std::string status = folder.status();
  if (status == "finished")
    throw InputError(folder.path(),
                     "holds a finished run whose checkpoints (checkpoint.h5, checkpoint.previous.h5) are gone, so it "
                     "cannot go on; run=FOLDER begins another one");
  if (status == "interrupted")
    log_warning("{}: its checkpoints (checkpoint.h5, checkpoint.previous.h5) are gone: the run begins again",
                folder.path());
}

}  // namespace

std::vector<learn::HeldOut> Training::starts() const {
  std::vector<learn::HeldOut> list;
  for (std::size_t p = 0; p < start_policies_.size(); ++p)
    list.push_back({&start_problems_[p], start_policies_[p].get()});
  return list;
}

std::uint64_t Training::evaluations_of_first_update() const {
  return learn::evaluations_of_update(*policy_, *learner_, problems_.size(), trainer_options(), 1);
}

std::uint64_t Training::evaluations_of_start() const {
  std::uint64_t evaluations = recipe_.options.start.empty() ? 0 : 1;
  if (!starts_from_init_) return evaluations;
  for (std::uint32_t p = 0; p < problems_.size(); ++p)
    evaluations += start_policies_.empty() ? policy_->rounds(p) : start_policies_[p]->rounds(0);
  return evaluations;
}

dist::PolicyPlan Training::policy_plan() const {
  return {recipe_.options.policy, recipe_.policy_options, policy_setup()};
}

std::optional<dist::ControllerPlan> Training::controller_plan() const {
  const learn::AsynchronousLearner* const learner = learner_->asynchronous();
  if (learner == nullptr) return {};
  return dist::ControllerPlan{policy_plan(), recipe_.options.learner, recipe_.learner_options, learner->controllers()};
}

bool Training::polishes() const {
  return recipe_.polish.samples > 0 && objective_ == Objective::step && recipe_.options.evaluator == "simulator";
}

bool Training::teaches() const { return learner_->can_be_taught() && (polishes() || recipe_.options.demonstrations); }

void Training::check_ranks(const dist::World* world) const {
  const learn::AsynchronousLearner* const learner = learner_->asynchronous();
  if (learner == nullptr) return;
  const std::size_t needed = 1 + learner->controllers(), ranks = world == nullptr ? 1 : world->size();
  if (ranks >= needed) return;
  throw InputError(recipe_.place,
                   "{0}.asynchronous needs {1} MPI ranks or more, one for the parameters and one for each controller, "
                   "but there {2} {3}: mpirun -np {1} emplace train ..., or {0}.asynchronous=false",
                   recipe_.options.learner, needed, ranks == 1 ? "is" : "are", ranks);
}

std::optional<Training::Staleness> Training::staleness() const {
  const auto column = history_.find("staleness");
  if (column == history_.end() || column->second.empty()) return {};
  Staleness staleness;
  for (const double updates : column->second) {
    staleness.mean += updates;
    staleness.most = std::max(staleness.most, updates);
  }
  staleness.mean /= static_cast<double>(column->second.size());
  return staleness;
}

learn::TrainerOptions Training::trainer_options() const {
  const RecipeOptions& o = recipe_.options;
  learn::TrainerOptions options{.seed = static_cast<std::uint64_t>(o.seed),
                                .schedule = schedule_,
                                .greedy_every = static_cast<std::uint64_t>(o.greedy_every),
                                .problems_per_update = static_cast<std::size_t>(o.problems_per_update),
                                .hold_problems = static_cast<std::uint64_t>(o.hold_problems),
                                .held_out_every = static_cast<std::uint64_t>(o.held_out_every)};
  options.polish = recipe_.polish;
  if (o.demonstrations) options.demonstrations_share = o.demonstrations_share;
  options.budget_used = [this](std::uint64_t updates, std::uint64_t evaluations) {
    return recipe_.options.budget_share * budget_used(updates, evaluations);
  };
  options.may_begin = [limit = limits()](std::uint64_t updates, std::uint64_t evaluations_after) {
    return (limit.updates == 0 || updates < limit.updates) &&
           (limit.evaluations == 0 || evaluations_after <= limit.evaluations);
  };
  for (std::size_t p = 0; p < held_out_problems_.size(); ++p)
    options.held_out.push_back({&held_out_problems_[p], held_out_policies_[p].get()});
  return options;
}

std::vector<const Problem*> Training::problem_list() const {
  std::vector<const Problem*> list;
  for (const Problem& problem : problems_) list.push_back(&problem);
  for (const Problem& problem : held_out_) list.push_back(&problem);
  return list;
}

evaluate::EvaluatorChoice Training::evaluator() const {
  evaluate::EvaluatorChoice choice{recipe_.options.evaluator, recipe_.evaluator_options};
  choice.options = evaluate::entry_of(choice).resolve(choice.options);
  return choice;
}

Training::End Training::run(const RunFolder& folder, const Session& session) {
  learn::TrainerOptions options = trainer_options();
  options.learner_workers = session.learner_workers;
  options.controllers = session.controllers;
  options.polish_pool = session.polish_pool;
  EMPLACE_CHECK((session.polish_pool != nullptr) == polishes());
  learn::Trainer trainer(*policy_, *learner_, session.evaluator, policy_problems_, options);
  saved_at_.reset();
  if (session.resume && has_checkpoint(folder.path())) {
    load(load_newest_checkpoint(folder.path()), trainer, folder.path());
    saved_at_ = trainer.updates();
  } else if (session.resume) {
    check_may_begin_again(folder);
  }
  MetricsFile metrics(folder.file(metrics_file), metrics_history());
  // A resume may change some options; a later resume without them keeps the new values.
  folder.set_config(recipe_.resolved());
  const std::uint64_t evaluations_before = trainer.evaluations();
  log::to_file(folder.file("log.txt"));
  folder.set_status("running");
  for (const std::string& warning : warnings_) log::write_once(log::Level::warning, warning);
  if (!memory_.empty()) log_info("{}", memory_);
  if (session.show_progress)
    log_info("the training ends after {}{}", budget(), session.resume ? ", earlier sessions included" : "");
  End end = End::interrupted;
  // Nothing is saved after a failure: learner and trainer may be in the middle of an update. The log stays open for the
  // error message with which the program ends; train_recipe() closes it, because its process may go on.
  try {
    if (!saved_at_) {
      const auto start = std::chrono::steady_clock::now();
      begin(trainer, session);
      seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    end = train(folder, trainer, metrics, session);
    if (session.controllers != nullptr) session.controllers->end();
    if (end == End::finished) held_out_best_ = trainer.place_held_out();
  } catch (const NotFinite& error) {
    folder.try_set_status("failed");
    throw NotFinite("{}; {}", error.what(),
                    saved_at_ ? fmt::format("the checkpoint of update {} is kept in {}", *saved_at_, folder.path())
                              : fmt::format("{} has no checkpoint yet", folder.path()));
  } catch (...) {
    folder.try_set_status("failed");
    throw;
  }
  best_.assign(trainer.best().begin(), trainer.best().end());
  updates_ = trainer.updates();
  evaluations_ = trainer.evaluations();
  evaluations_of_session_ = evaluations_ - evaluations_before;
  folder.set_status(end == End::finished ? "finished" : "interrupted");
  log::to_file("");
  return end;
}

Training::End Training::train(const RunFolder& folder, learn::Trainer& trainer, MetricsFile& metrics,
                              const Session& session) {
  using Clock = std::chrono::steady_clock;
  const Limits limit = limits();
  TensorboardFile tensorboard(folder.file("tensorboard"), trainer.updates());
  const double seconds_before = seconds_;
  const auto start = Clock::now();
  const auto done = [&] {
    return (limit.updates > 0 && trainer.updates() >= limit.updates) ||
           (limit.evaluations > 0 && trainer.evaluations() + trainer.evaluations_per_update() > limit.evaluations) ||
           (limit.seconds > 0 && seconds_ >= limit.seconds) || ends_early(trainer);
  };
  const auto fraction = [&] { return budget_used(trainer.updates(), trainer.evaluations()); };
  Progress progress(session.show_progress, fraction());
  Clock::duration longest{};
  auto saved = start;
  const auto stopped = [&] { return stop_requested() || (session.stop && session.stop()); };
  while (!done() && !stopped() && !(session.deadline && Clock::now() + longest >= *session.deadline)) {
    const auto begin = Clock::now();
    const std::optional<learn::UpdateReport> done_update = step(trainer);
    if (!done_update) break;
    const learn::UpdateReport& report = *done_update;
    seconds_ = seconds_before + std::chrono::duration<double>(Clock::now() - start).count();
    const auto row = record(report, trainer.best().front());
    metrics.add(row);
    tensorboard.add(report.update, row);
    progress.update(fraction(), describe_progress(report, limit.updates, trainer.best().front()));
    if (trainer.updates() % static_cast<std::uint64_t>(recipe_.options.checkpoint_every) == 0 &&
        Clock::now() - saved >= session.between_checkpoints) {
      save(folder, trainer, arrays(trainer));
      saved = Clock::now();
    }
    longest = std::max(longest, Clock::now() - begin);
  }
  progress.finish();
  if (is_at_bound(trainer))
    log_info("the training ends at update {}: no placement is faster than the best one", trainer.updates());
  else if (ends_early(trainer))
    log_info("the training ends at update {}: no better placement was found in {} updates (patience)",
             trainer.updates(), recipe_.options.patience);
  if (saved_at_ != trainer.updates()) save(folder, trainer, before_ ? std::move(*before_) : arrays(trainer));
  return done() ? End::finished : End::interrupted;
}

}  // namespace emplace::experiment
