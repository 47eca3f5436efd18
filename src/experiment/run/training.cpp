#include "experiment/run/training.hpp"
#include "dist/clients.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <system_error>

#include "base/cores.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/not_finite.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/search/bound.hpp"
#include "experiment/recipe/idle_options.hpp"
#include "experiment/run/tensorboard.hpp"
#include "experiment/run/trained_policy.hpp"
#include "formats/workload/workload.hpp"
#include "nn/kernels/threads.hpp"

namespace emplace::experiment {

namespace {

void use_threads(std::size_t count) {
  try {
    nn::use_threads(count);
  } catch (const std::system_error& error) {
    throw EnvironmentError("{} threads cannot be started: {}", count, error.what());
  }
  if (const std::size_t cores = allowed_cores().size(); cores < count)
    log_warning("{} threads share {} core{} (mpirun binds ranks to cores unless told --bind-to none)", count, cores,
                cores == 1 ? "" : "s");
}

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

// With the grouping `op` the ops of a co-location group are placed one by one, and nearly all samples break the group.
void refuse_groups(const Problem& problem, const std::string& place) {
  std::vector<std::uint32_t> ops(problem.op_count());
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    if (const GroupId group = problem.group[op]; !group.is_none() && ++ops[group.index()] == 2)
      throw InputError(place,
                       "with grouping = 'op' the ops of a co-location group would be placed on different devices, and "
                       "{} is in one with others ({}): wanted grouping = 'colocation'",
                       quote(problem.op_names[op]), problem.name);
}

}  // namespace

Training::Training(Recipe recipe, bool from_checkpoint)
    : recipe_(std::move(recipe)),
      schedule_(schedule_of(recipe_.options.schedule, recipe_.place)),
      objective_(objective_of(recipe_.options.objective, recipe_.place)) {
  RecipeOptions& o = recipe_.options;
  // Makes an evaluator only for its errors, before anything slow is done; the caller makes the one that is used.
  (void)evaluate::make_evaluator(evaluator(), {{}, {schedule_, objective_}});
  TaskConstraints constraints = recipe_.constraints();
  for (const std::string& source : recipe_.sources()) {
    source::LoadedProblem loaded = o.graph.empty() ? source::load_problem(source, recipe_.source)
                                                   : source::load_problem(o.graph, o.machine, recipe_.source);
    add_warnings(loaded);
    constraints.apply(loaded.problem);
    problems_.push_back(std::move(loaded.problem));
  }
  const GroupingKind grouping = grouping_of(o.grouping, recipe_.place);
  if (grouping == GroupingKind::op)
    for (const Problem& problem : problems_) refuse_groups(problem, recipe_.place);
  for (std::size_t p = 0; p < problems_.size(); ++p)
    policy_problems_.emplace_back(
        &problems_[p], make_grouping(problems_[p], grouping, static_cast<std::size_t>(o.groups), recipe_.place,
                                     static_cast<std::uint64_t>(o.seed), o.group_share));
  std::optional<TrainedPolicy> init;
  if (!o.init.empty() && !from_checkpoint) {
    init = TrainedPolicy::load(o.init);
    if (init->recipe().options.policy != o.policy)
      throw InputError(o.init, "its policy is {}, the recipe's is {}", init->recipe().options.policy, o.policy);
    if (o.op_types.empty()) o.op_types = init->recipe().options.op_types;
    if (o.op_types != init->recipe().options.op_types)
      throw InputError(o.init, "its policy was trained with other op_types than the recipe's (leave them out)");
  }
  load_held_out(constraints);
  constraints.check_all_matched();
  if (o.op_types.empty()) o.op_types = policy::op_types_of(policy_problems_);
  const policy::PolicyEntry& policy = find_entry(policy::policies(), o.policy, "policy");
  const policy::PolicySetup setup = policy_setup();
  if (init)
    for (const std::string& option : policy.frozen)
      if (const ConfigValue* value = init->recipe().policy_options.find(option);
          value != nullptr && !sets_option(policy, recipe_.policy_options, option))
        recipe_.policy_options.set(option, *value);
  if (policy.freeze_defaults) recipe_.policy_options = policy.freeze_defaults(recipe_.policy_options, setup);
  policy_ = policy.make(recipe_.policy_options, setup);
  if (init) {
    init->give(*policy_, policy_problems_);
    make_starts(*init);
    starts_from_init_ = true;
  }
  if (policy_->reads_start_times() && evaluate::entry_of(evaluator()).measures)
    log_warning("policy {} reads when each op starts, which a measurement does not say: it learns without start times",
                quote(o.policy));
  if (!from_checkpoint) load_start();  // a checkpoint has the placement
  if (o.stop_at_bound)
    for (const Problem& problem : problems_) bounds_.push_back(search::lower_bound(problem, objective_).ticks);
  make_held_out_policies();
  learner_ = find_entry(learn::learners(), o.learner, "learner")
                 .make(recipe_.learner_options,
                       {policy_problems_, static_cast<std::uint64_t>(o.seed), {schedule_, objective_}});
  const std::uint64_t budget = limits().evaluations;
  const std::uint64_t first = evaluations_of_first_update() + evaluations_of_start();
  if (budget > 0 && budget < first)
    throw InputError(recipe_.place, "the budget of {} evaluations is less than the {} of one update{}", budget, first,
                     evaluations_of_start() > 0 ? " and of the placement that it starts from" : "");
  warn_of_idle_options();
  check_memory();
  use_threads(static_cast<std::size_t>(o.threads));
}

void Training::warn_of_idle_options() {
  for (const IdleOption& idle : idle_options(recipe_.resolved())) warnings_.push_back(sentence_of(idle));
  const ConfigValue* const blocks = recipe_.policy_options.find("coarse_units");
  if (recipe_.options.policy != "post" || blocks == nullptr) return;
  std::size_t most = 0;
  for (const policy::PolicyProblem& problem : policy_problems_) most = std::max(most, problem.grouping.count());
  if (const auto count = as_whole(*blocks, "coarse_units"); count > 0 && static_cast<std::size_t>(count) >= most)
    warnings_.push_back(sentence_of(
        {"post.coarse_units", fmt::format("it is {}, but no problem has more than {} units", count, most)}));
}

policy::PolicySetup Training::policy_setup() const {
  const RecipeOptions& o = recipe_.options;
  return {policy_problems_, o.op_types, static_cast<std::uint64_t>(o.seed),
          o.init.empty() ? policy::PolicyUse::begin_training : policy::PolicyUse::go_on_training};
}

// With the options and units of the other run, so that the placement is the one that `place --policy` finds.
void Training::make_starts(const TrainedPolicy& init) {
  if (!find_entry(policy::policies(), recipe_.options.policy, "policy").transfers) return;
  for (const Problem& problem : problems_) {
    const policy::PolicyProblem& start = start_problems_.emplace_back(&problem, init.group(problem));
    start_policies_.push_back(init.make({&start, 1}));
  }
}

void Training::load_start() {
  const RecipeOptions& o = recipe_.options;
  if (o.start.empty()) return;
  start_ = formats::read_placement_text(read_file(o.start), o.start, problems_.front()).placement;
  if (schedule_ != Schedule::fifo && start_->order.empty())
    throw InputError(o.start, "has no order, which the schedule {} needs", quote(o.schedule));
  if (schedule_ == Schedule::fifo) start_->order.clear();
}

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

void Training::add_warnings(const source::LoadedProblem& loaded) {
  warnings_.insert(warnings_.end(), loaded.warnings.begin(), loaded.warnings.end());
  warnings_.insert(warnings_.end(), loaded.lacks.begin(), loaded.lacks.end());
}

void Training::load_held_out(TaskConstraints& constraints) {
  const RecipeOptions& o = recipe_.options;
  const std::vector<std::string> sources = recipe_.sources();
  for (const std::string& source : o.held_out) {
    source::LoadedProblem loaded = source::load_problem(source, recipe_.source);
    add_warnings(loaded);
    constraints.apply(loaded.problem);
    for (std::size_t p = 0; p < problems_.size(); ++p)
      if (same_but_for_the_name(loaded.problem, problems_[p]))
        throw InputError(recipe_.place, "{} is held out, but the training has the same problem: {}", quote(source),
                         quote(sources[p]));
    if (grouping_of(o.grouping, recipe_.place) == GroupingKind::op) refuse_groups(loaded.problem, recipe_.place);
    held_out_.push_back(std::move(loaded.problem));
  }
  for (std::size_t p = 0; p < held_out_.size(); ++p)
    held_out_problems_.emplace_back(&held_out_[p], group_unseen(o, held_out_[p], recipe_.place));
}

// Makes a policy for each held-out problem as TrainedPolicy does after the run. They are separate policies, so that the
// training's policy is the same with and without held-out problems.
void Training::make_held_out_policies() {
  const RecipeOptions& o = recipe_.options;
  const std::size_t devices = problems_.front().device_count();
  for (const policy::PolicyProblem& each : held_out_problems_) {
    const std::string name = quote(each.problem->name);
    if (each.problem->device_count() != devices)
      throw InputError(recipe_.place, "the training's problems have {} devices, but {}, which is held out, has {}",
                       devices, name, each.problem->device_count());
    const policy::PolicySetup setup{
        {&each, 1}, o.op_types, static_cast<std::uint64_t>(o.seed), policy::PolicyUse::place};
    held_out_policies_.push_back(
        find_entry(policy::policies(), o.policy, "policy").make(recipe_.policy_options, setup));
    const auto wanted = policy_->layout(), found = held_out_policies_.back()->layout();
    EMPLACE_CHECK(wanted.size() == found.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].shape != found[i].shape)
        throw InputError(recipe_.place,
                         "policy {} is bound to the size of its problems: {} has {} parameters for those of the "
                         "training, but {} for {}, which is held out",
                         quote(o.policy), wanted[i].name, wanted[i].size(), found[i].size(), name);
  }
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
  for (const std::string& warning : warnings_) log_warning("{}", warning);
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
