// What a training saves in its checkpoints and reads from them (docs/formats.md).
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>

#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "evaluate/cached/cached_evaluator.hpp"
#include "experiment/run/trained_policy.hpp"
#include "experiment/run/training.hpp"

namespace emplace::experiment {

namespace {

// The prefixes of a checkpoint's arrays (docs/formats.md).
constexpr std::string_view optimizer_prefix = "optimizer/", learner_prefix = "learner/", trainer_prefix = "trainer/",
                           history_prefix = "history/", policy_prefix = "policy/";
constexpr const char* best_array = "best/placement";

// The checkpoint's attributes besides config_attribute; those of the problems have their digests.
constexpr const char *version_attribute = "program_version", *seed_attribute = "seed", *update_attribute = "update",
                     *instructions_attribute = "instruction_set", *problems_attribute = "problems",
                     *held_out_attribute = "held_out";

// The digests of problems, in their order.
std::string digests_of(const std::deque<Problem>& problems) {
  std::vector<std::string> digests;
  for (const Problem& problem : problems) digests.push_back(evaluate::problem_digest(problem));
  return join(digests, " ");
}

// InputError for a problem that is not the one of the digest.
void check_problems(const std::deque<Problem>& problems, const std::vector<std::string>& sources,
                    const std::string& digests, const std::string& run) {
  const std::vector<std::string> wanted = problems.empty() ? std::vector<std::string>{} : split(digests, ' ');
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const std::string found = evaluate::problem_digest(problems[p]);
    if (p < wanted.size() && found == wanted[p]) continue;
    throw InputError(run,
                     "{} has changed since the run's checkpoint was written (digest {} there, {} now), so its times "
                     "cannot be compared: restore the file, or begin another run with run=FOLDER",
                     quote(sources[p]), p < wanted.size() ? quote(wanted[p]) : "none", quote(found));
  }
}

// Whether a checkpoint's history/NAME can be a column of metrics.csv: letters, digits, "_" and ".".
bool is_column_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

// InputError for an array that neither this program nor the run's policy and learner write.
void refuse_unknown_arrays(const State& arrays, const std::set<std::string>& known, const std::string& run) {
  for (const auto& [name, array] : arrays)
    if (!known.contains(name) && !name.starts_with(history_prefix) && !name.starts_with(policy_prefix) &&
        name != device_count_array && name != best_array && !name.starts_with(std::string(best_array) + "."))
      throw InputError(run, "its checkpoint has an array {}, which this program does not know{}", quote(name),
                       did_you_mean(name, std::vector<std::string>(known.begin(), known.end())));
}

void refuse_unknown_attributes(const std::map<std::string, std::string>& attributes, const std::string& run) {
  const std::vector<std::string> known = {config_attribute,  version_attribute,      seed_attribute,
                                          update_attribute,  instructions_attribute, problems_attribute,
                                          held_out_attribute};
  for (const auto& [name, text] : attributes)
    if (std::ranges::find(known, name) == known.end())
      throw InputError(run, "its checkpoint has an attribute {}, which this program does not know{}", quote(name),
                       did_you_mean(name, known));
}

// InputError for an attribute that is not the number `wanted` of `where`.
void check_number(const char* name, const std::string& found, std::uint64_t wanted, const char* where,
                  const std::string& run) {
  if (found != fmt::format("{}", wanted))
    throw InputError(run, "attribute {} of its checkpoint is {}, but {} has {}", quote(name), quote(found), where,
                     wanted);
}

}  // namespace

// The learner's and the trainer's state under the names that it has in a checkpoint.
State Training::state(const learn::Trainer& trainer) const {
  State arrays;
  for (auto& [name, array] : learner_->save())
    arrays[name.starts_with(optimizer_prefix) ? name : std::string(learner_prefix) + name] = array;
  for (auto& [name, array] : trainer.save()) arrays[std::string(trainer_prefix) + name] = array;
  return arrays;
}

State Training::arrays(const learn::Trainer& trainer) const {
  State arrays;
  save_parameters(*policy_, arrays);
  put_scalar(arrays, device_count_array, std::uint64_t{problems_.front().device_count()});
  arrays.merge(state(trainer));
  for (const auto& [name, values] : history_) put(arrays, std::string(history_prefix) + name, values);
  return arrays;
}

std::optional<learn::UpdateReport> Training::step(learn::Trainer& trainer) {
  // A copy of the state takes a small part of the time of an update that is worth abandoning.
  constexpr double worth_abandoning_s = 0.5;
  constexpr std::chrono::duration<double> grace{0.3};
  const auto begin = std::chrono::steady_clock::now();
  std::optional<learn::UpdateReport> report;
  // How long one asynchronous controller took says nothing about the next one.
  const bool is_short = last_update_s_ && *last_update_s_ < worth_abandoning_s && learner_->asynchronous() == nullptr;
  if (is_short) {
    report = trainer.step();
  } else {
    State before = arrays(trainer);
    try {
      const Interruptible interruptible(stop_requested, grace);
      report = trainer.step();
    } catch (const Interrupted&) {
      trainer.load(arrays_under(before, std::string(trainer_prefix)));
      before_ = std::move(before);
      return {};
    }
  }
  last_update_s_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

void Training::save(const RunFolder& folder, const learn::Trainer& trainer, State arrays) {
  Checkpoint checkpoint;
  checkpoint.arrays = std::move(arrays);
  for (std::size_t p = 0; p < problems_.size(); ++p) {
    const learn::Best& best = trainer.best()[p];
    if (!best.any) continue;
    put(checkpoint.arrays, problems_.size() == 1 ? best_array : fmt::format("{}.{}", best_array, p),
        best.placement.device);
    write_file(folder.file(best_placement_file(p, problems_.size())),
               formats::write_placement_json(problems_[p], best.placement, schedule_));
  }
  const ConfigTable config = recipe_.resolved();
  checkpoint.attributes = {{config_attribute, config.to_toml()},
                           {version_attribute, version()},
                           {seed_attribute, fmt::format("{}", recipe_.options.seed)},
                           {update_attribute, fmt::format("{}", trainer.updates())},
                           {instructions_attribute, instruction_set()},
                           {problems_attribute, digests_of(problems_)},
                           {held_out_attribute, digests_of(held_out_)}};
  flush_to_disk(folder.file(metrics_file));  // a resumed run keeps these rows
  save_checkpoint(folder.path(), checkpoint);
  saved_at_ = trainer.updates();
}

void Training::load(const Checkpoint& checkpoint, learn::Trainer& trainer, const std::string& run) {
  refuse_unknown_attributes(checkpoint.attributes, run);
  const auto attribute = [&](const char* name) -> const std::string& {
    const auto found = checkpoint.attributes.find(name);
    if (found == checkpoint.attributes.end())
      throw InputError(run, "attribute {} of its checkpoint is missing", quote(name));
    return found->second;
  };
  const ConfigTable then =
      with_defaults(ConfigTable::parse_toml(attribute(config_attribute), run + ": its checkpoint's config"));
  if (const auto differs = difference_in_computing(then, recipe_.resolved()); !differs.empty())
    throw InputError(run, "its checkpoint was written by another configuration than its config.toml: {}", differs);
  const std::string& by = attribute(version_attribute);
  if (by != version())
    log_warning(
        "the run's checkpoint is of emplace {}, this program is {}: the bits may differ from an undisturbed run",
        printable(by), version());
  check_problems(problems_, recipe_.sources(), attribute(problems_attribute), run);
  check_problems(held_out_, recipe_.options.held_out, attribute(held_out_attribute), run);
  check_number(seed_attribute, attribute(seed_attribute), static_cast<std::uint64_t>(recipe_.options.seed),
               "its config.toml", run);
  if (attribute(instructions_attribute) != instruction_set())
    log_warning(
        "the run was begun with instruction set {}, this program uses {}: the bits may differ from an undisturbed run",
        printable(attribute(instructions_attribute)), instruction_set());

  load_parameters(*policy_, checkpoint.arrays, run);
  reading(run, [&] {
    State learner = arrays_under(checkpoint.arrays, std::string(learner_prefix));
    for (const auto& [path, array] : checkpoint.arrays)
      if (path.starts_with(optimizer_prefix)) learner[path] = array;
    learner_->load(learner, *policy_);
    trainer.load(arrays_under(checkpoint.arrays, std::string(trainer_prefix)));
    const State history = arrays_under(checkpoint.arrays, std::string(history_prefix));
    for (const auto& [name, array] : history) {
      if (!is_column_name(name))
        throw InputError(std::string(history_prefix) + printable(name), "is no name of a column of metrics.csv");
      history_[name] = get<double>(history, name);
    }
  });
  std::set<std::string> known;
  for (const auto& [name, array] : state(trainer)) known.insert(name);
  refuse_unknown_arrays(checkpoint.arrays, known, run);
  check_number(update_attribute, attribute(update_attribute), trainer.updates(), "its trainer/updates", run);
  check_columns(run, by == version());
  check_history(trainer, run);
  const auto& seconds = history_[history_seconds];
  seconds_ = seconds.empty() ? 0 : seconds.back();
  if (const auto polish = history_.find("wall_polish_seconds"); polish != history_.end() && !polish->second.empty())
    polish_seconds_ = polish->second.back();
}

void Training::check_columns(const std::string& run, bool of_this_version) {
  std::vector<std::string> known = columns_of_trainer();
  const std::vector<std::string>& learners = find_entry(learn::learners(), recipe_.options.learner, "learner").columns;
  known.insert(known.end(), learners.begin(), learners.end());
  known.emplace_back(history_seconds);
  const std::vector<std::string> in_metrics = columns_of_metrics(run + "/" + metrics_file);
  // Another version may have reported more than this one: only what is in metrics.csv stays there and is kept.
  const auto is_extra = [&](const std::string& name) {
    return std::ranges::find(known, name) == known.end() && std::ranges::find(in_metrics, name) == in_metrics.end();
  };
  if (!of_this_version) std::erase_if(history_, [&](const auto& column) { return is_extra(column.first); });
  for (const auto& [name, values] : history_) {
    if (is_extra(name))
      throw InputError(run, "its checkpoint has an array {}, which this program does not know{}",
                       quote(std::string(history_prefix) + name), did_you_mean(name, known));
    // A version without the column wrote no numbers; from the first one on there is one for every update.
    if (std::ranges::find(learners, name) == learners.end()) continue;
    const auto first = std::ranges::find_if(values, [](double value) { return !std::isnan(value); });
    if (!std::all_of(first, values.end(), [](double value) { return std::isfinite(value); }))
      throw InputError(run, "its checkpoint's history/{} has a value that is not a number", name);
  }
}

void Training::check_history(const learn::Trainer& trainer, const std::string& run) const {
  for (const auto& [name, values] : history_)
    if (values.size() != trainer.updates())
      throw InputError(run, "its checkpoint's history/{} has {} updates, wanted {}", name, values.size(),
                       trainer.updates());
  if (trainer.updates() == 0) return;
  const auto column = [&](const char* name) -> const std::vector<double>& {
    const auto found = history_.find(name);
    if (found == history_.end()) throw InputError(run, "its checkpoint has no history/{}", name);
    return found->second;
  };
  for (const char* name : {"update", "evaluations", "samples", "feasible_share", history_seconds})
    if (!std::ranges::all_of(column(name), [](double value) { return std::isfinite(value) && value >= 0; }))
      throw InputError(run, "its checkpoint's history/{} has a value that is not a number of at least 0", name);
  const std::vector<double>&updates = column("update"), &evaluations = column("evaluations");
  for (std::size_t i = 0; i < updates.size(); ++i)
    if (updates[i] != static_cast<double>(i + 1) || (i > 0 && evaluations[i] <= evaluations[i - 1]))
      throw InputError(run, "its checkpoint's history does not count updates and evaluations up at update {}", i + 1);
  if (evaluations.back() != static_cast<double>(trainer.evaluations()))
    throw InputError(run, "its checkpoint's trainer/evaluations is {}, but its history counts {}",
                     trainer.evaluations(), evaluations.back());
  const learn::Best& best = trainer.best().front();
  const bool timed = best.any && best.outcome.feasible();
  if (const double then = column("best_step_time").back();
      timed ? then != to_seconds(best.outcome.makespan) : !std::isnan(then))
    throw InputError(run, "its checkpoint's trainer/best.0.outcome has the time {}, but its history {}",
                     timed ? human_seconds(to_seconds(best.outcome.makespan)) : "of no feasible placement",
                     std::isnan(then) ? "none" : human_seconds(then));
}

}  // namespace emplace::experiment
