#include "doctor/inputs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <new>
#include <optional>
#include <set>

#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "doctor/key_values.hpp"
#include "doctor/problem_inputs.hpp"
#include "emplace/base/error.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/run/checkpoint.hpp"
#include "experiment/run/training_backend.hpp"

namespace emplace::doctor {

namespace {

using Clock = std::chrono::steady_clock;
using Effect = KeyTrial::Effect;

constexpr const char* place = "doctor";
constexpr const char* no_memory = "it takes more memory than there is";
constexpr const char* on_request = "stopped on request";
// Number of values of a key that are tried before it is reported as having no effect.
constexpr std::size_t most_values = 3;

// Logs only errors while it lives: otherwise each training would repeat the warnings about the recipe.
class Quiet {
 public:
  Quiet() { log::configure(log::Level::error, false); }
  ~Quiet() { log::configure(log::Level::info, false); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

bool same_bits(const StateArray& a, const StateArray& b) {
  return a.shape == b.shape && a.data.index() == b.data.index() &&
         std::visit(
             [&](const auto& values) {
               const auto& others = std::get<std::decay_t<decltype(values)>>(b.data);
               return values.size() == others.size() &&
                      (values.empty() ||
                       std::memcmp(values.data(), others.data(), values.size() * sizeof values[0]) == 0);
             },
             a.data);
}

// The part of the training to which an array of a checkpoint belongs; "" for measured seconds.
std::string part_of(const std::string& array) {
  if (array == "history/seconds") return "";
  if (array.starts_with("best/")) return "best placement";
  for (const char* reward : {"history/mean_reward", "history/best_reward", "history/best_step_time"})
    if (array == reward) return "rewards";
  if (array.starts_with("policy/")) return "parameters";
  return array.starts_with("history/") ? "metrics" : "learner's state";
}

constexpr std::array outcome_parts = {"best placement", "rewards", "parameters"};

// The parts in which two checkpoints differ, the most important first.
std::vector<std::string> differences(const State& a, const State& b) {
  std::set<std::string> found;
  for (const auto* arrays : {&a, &b})
    for (const auto& [name, array] : *arrays) {
      const auto in_a = a.find(name), in_b = b.find(name);
      if (in_a == a.end() || in_b == b.end() || !same_bits(in_a->second, in_b->second)) found.insert(part_of(name));
    }
  std::vector<std::string> parts;
  for (const char* part : {"best placement", "rewards", "parameters", "metrics", "learner's state"})
    if (found.contains(part)) parts.emplace_back(part);
  return parts;
}

bool on_outcome(const std::vector<std::string>& changed) {
  return std::ranges::any_of(changed, [](const std::string& part) {
    return part == "it fails" || std::ranges::find(outcome_parts, part) != outcome_parts.end();
  });
}

// The result of a short training.
struct Trained {
  std::optional<State> arrays;  // of its checkpoint; none if it failed or was refused
  std::string failed;           // why it ended early
  std::string refused;          // why it did not begin
  std::uint64_t updates = 0, evaluations = 0;
  std::vector<learn::Best> best;
  double seconds = 0;  // including the time to load the problem
};

class Examiner {
 public:
  explicit Examiner(const ExamineLimits& limits) : limits_(limits) {}

  // Trains until the recipe's updates are done or, if given, `seconds` have passed.
  Trained train(ConfigTable config, std::optional<double> seconds = {}) {
    const std::string folder = fmt::format("{}/{}", limits_.folder, ++count_);
    config.set("run", {folder, place});
    const auto begin = Clock::now();
    const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
    Trained trained;
    std::optional<experiment::Training> training;
    const Quiet quiet;
    try {
      training.emplace(experiment::make_recipe(config));
    } catch (const std::runtime_error& error) {  // InputError and EnvironmentError; internal errors are not caught
      trained.refused = error.what();
      return trained;
    } catch (const std::bad_alloc&) {
      trained.refused = no_memory;
      return trained;
    }
    try {
      const experiment::RunFolder run = experiment::RunFolder::create(folder, training->recipe().resolved());
      const experiment::TrainingBackend backend = experiment::make_training_backend(nullptr, *training, run);
      experiment::Training::Session session = backend.session();
      session.show_progress = false;
      // Also called before the first update, which must always be made: so the first call returns false.
      session.stop = [&, asked = 0]() mutable { return asked++ > 0 && seconds && elapsed() > *seconds; };
      training->run(run, session);
      trained.arrays = experiment::load_checkpoint(folder + "/checkpoint.h5").arrays;
      trained.updates = training->updates();
      trained.evaluations = training->evaluations();
      trained.best = training->best();
    } catch (const std::runtime_error& error) {  // usually NotFinite
      trained.failed = error.what();
    } catch (const std::bad_alloc&) {
      trained.refused = no_memory;
    }
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
    trained.seconds = elapsed();
    return trained;
  }

 private:
  const ExamineLimits& limits_;
  std::size_t count_ = 0;
};

std::string budget_text(double seconds) { return fmt::format("the {} s were over", seconds); }

void try_key(const experiment::RecipeKey& key, const ConfigTable& base, const Trained& unchanged, Examiner& examiner,
             KeyTrial& trial) {
  const bool neutral = without_effect_by_design(key.name);
  const ConfigValue* const now = find_value(base, key.name);
  // Refused values do not count, because only trainings take time.
  std::size_t trained = 0;
  std::string refused;
  for (const ConfigValue& value : other_values(key.option, now)) {
    ConfigTable config = base;
    config.set_path(key.name, value);
    const Trained changed = examiner.train(std::move(config), 10 * unchanged.seconds + 5);
    if (stop_requested()) {
      refused = on_request;
      break;
    }
    std::string why = changed.refused;
    if (why.empty() && changed.failed.empty() && changed.updates < unchanged.updates)
      why = fmt::format("with {} it takes more than ten times as long", text_of(&value));
    if (!why.empty()) {
      if (refused.empty()) refused = why;
      continue;
    }
    trial.tried.push_back(text_of(&value));
    const auto parts =
        changed.arrays ? differences(*unchanged.arrays, *changed.arrays) : std::vector<std::string>{"it fails"};
    if (trial.changed.empty() || on_outcome(parts)) trial.changed = parts;
    if (on_outcome(trial.changed) || ++trained == most_values) break;
  }
  if (trial.tried.empty()) {
    trial.reason = refused.empty() ? "there is no other value to try" : refused;
    return;
  }
  if (on_outcome(trial.changed))
    trial.effect = neutral ? Effect::broken : Effect::outcome;
  else if (neutral)
    trial.effect = Effect::by_design;
  else
    trial.effect = trial.changed.empty() ? Effect::none : Effect::state;
}

// The unchanged recipe, with a budget only in updates.
ConfigTable with_updates(const experiment::Recipe& recipe, std::uint64_t updates) {
  ConfigTable config = recipe.resolved();
  for (const std::string& key : config.keys())
    if (const Affects what = experiment::affects_of(key); what == Affects::budget || what == Affects::place)
      config.erase(key);
  config.set("updates", {static_cast<std::int64_t>(updates), place});
  return config;
}

void try_problem(const experiment::Recipe& recipe, const std::vector<learn::Best>& best,
                 const std::function<std::string()>& enough, Examination& examination) {
  if (best.empty() || !best.front().any) return;
  const Quiet quiet;
  const experiment::Training training(recipe);
  const Problem& problem = training.problems().front();
  const evaluate::Scoring scoring{training.schedule(), training.objective()};
  const auto judge = [&](const Problem& changed) {
    const Problem* const one = &changed;
    const auto evaluator = evaluate::make_evaluator(training.evaluator(), {std::span(&one, 1), scoring});
    const evaluate::EvaluationJob job{0, &best.front().placement};
    return evaluator->evaluate(std::span(&job, 1)).front();
  };
  const Outcome outcome = judge(problem);
  examination.placement = outcome.timed() ? human_seconds(to_seconds(outcome.makespan)) : "no time";
  if (!outcome.feasible()) examination.placement += ", infeasible";
  examination.problem = try_problem_inputs(problem, judge, enough);
}

}  // namespace

bool without_effect_by_design(const std::string& key) { return experiment::affects_of(key) == Affects::speed; }

Examination examine_inputs(const ConfigTable& table, const ExamineLimits& limits) {
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const auto progress = [&](double share, const std::string& what) {
    if (limits.progress) limits.progress(share, what);
  };
  const experiment::Recipe recipe = experiment::make_recipe(table);
  if (find_entry(evaluate::evaluators(), recipe.options.evaluator, "evaluator").measures)
    throw InputError(recipe.place,
                     "evaluator {} measures: its times differ in each run, so the effect of an input "
                     "cannot be seen",
                     quote(recipe.options.evaluator));
  Examiner examiner(limits);
  Examination examination;
  const auto require = [&](const Trained& trained) {
    if (!trained.refused.empty()) throw InputError(trained.refused);
    if (!trained.arrays) throw EnvironmentError("{}", trained.failed);
  };

  // As many updates as fit into a hundredth of the time: there are dozens of keys, some of them with three values.
  progress(0, "the unchanged recipe");
  Trained unchanged = examiner.train(with_updates(recipe, limits.updates), limits.seconds / 100);
  examination.interrupted = stop_requested();
  if (examination.interrupted) return examination;
  require(unchanged);
  examination.updates = unchanged.updates;
  const ConfigTable base = with_updates(recipe, unchanged.updates);
  // Schedules of learning rates depend on the budget, so a training that ended early is repeated with the smaller
  // budget.
  if (unchanged.updates < limits.updates) unchanged = examiner.train(base);
  require(unchanged);
  examination.evaluations = unchanged.evaluations;
  examination.interrupted = stop_requested();
  if (examination.interrupted) return examination;
  progress(0, "the unchanged recipe, once more");
  const Trained again = examiner.train(base);
  require(again);
  examination.interrupted = stop_requested();
  if (examination.interrupted) return examination;
  examination.repeatable = differences(*unchanged.arrays, *again.arrays).empty();

  progress(0, "inputs of the problem");
  const auto enough = [&]() -> std::string {
    if (stop_requested()) return on_request;
    return elapsed() > limits.seconds / 2 ? "half of " + budget_text(limits.seconds) : "";
  };
  try_problem(experiment::make_recipe(base), unchanged.best, enough, examination);

  const experiment::RecipeOptions& o = recipe.options;
  std::vector<experiment::RecipeKey> keys = experiment::recipe_keys(o.policy, o.learner, o.evaluator);
  // Keys that the recipe sets come first.
  std::ranges::stable_partition(
      keys, [&](const experiment::RecipeKey& key) { return find_value(table, key.name) != nullptr; });
  for (std::size_t k = 0; k < keys.size(); ++k) {
    KeyTrial trial{.key = keys[k].name,
                   .value = text_of(find_value(base, keys[k].name)),
                   .tried = {},
                   .changed = {},
                   .reason = why_not_tried(keys[k].name, recipe)};
    if (trial.reason.empty() && stop_requested()) trial.reason = on_request;
    if (trial.reason.empty() && elapsed() > limits.seconds) trial.reason = budget_text(limits.seconds);
    if (trial.reason.empty()) {
      progress(static_cast<double>(k) / static_cast<double>(keys.size()), keys[k].name);
      try_key(keys[k], base, unchanged, examiner, trial);
    }
    examination.keys.push_back(std::move(trial));
  }
  examination.interrupted = stop_requested();
  return examination;
}

}  // namespace emplace::doctor
