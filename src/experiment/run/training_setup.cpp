// What a training is made of: problems, policies and learner from the recipe, before anything is trained.
#include <fmt/core.h>

#include <algorithm>
#include <system_error>

#include "base/cores.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/search/bound.hpp"
#include "experiment/recipe/idle_options.hpp"
#include "experiment/run/trained_policy.hpp"
#include "experiment/run/training.hpp"
#include "formats/workload/workload.hpp"
#include "nn/kernels/threads.hpp"
#include "serving/cluster_json.hpp"
#include "serving/stage_problem.hpp"

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

// A problem, or a cluster as one whose ops are its nodes.
source::LoadedProblem load_problem_or_cluster(const std::string& source, const Recipe& recipe) {
  if (!serving::is_cluster_file(source)) return source::load_problem(source, recipe.source);
  if (const std::string& name = recipe.options.evaluator; name != "serving")
    throw InputError(source,
                     "is a cluster to serve a model on, which evaluator {} cannot judge: wanted evaluator = "
                     "'serving', as in the recipe serving",
                     quote(name));
  return {serving::stage_problem(serving::read_cluster_file(source), source), {}};
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
    source::LoadedProblem loaded = o.graph.empty() ? load_problem_or_cluster(source, recipe_)
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

void Training::add_warnings(const source::LoadedProblem& loaded) {
  warnings_.insert(warnings_.end(), loaded.warnings.begin(), loaded.warnings.end());
  warnings_.insert(warnings_.end(), loaded.lacks.begin(), loaded.lacks.end());
}

void Training::load_held_out(TaskConstraints& constraints) {
  const RecipeOptions& o = recipe_.options;
  const std::vector<std::string> sources = recipe_.sources();
  for (const std::string& source : o.held_out) {
    source::LoadedProblem loaded = load_problem_or_cluster(source, recipe_);
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

}  // namespace emplace::experiment
