#include "experiment/run/trained_policy.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "base/files.hpp"
#include "base/not_finite.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "experiment/run/checkpoint.hpp"
#include "learn/sampling.hpp"

namespace emplace::experiment {

namespace {

constexpr std::string_view prefix = "policy/";

std::string str(const std::vector<std::uint64_t>& shape) {
  return shape.empty() ? "a scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

}  // namespace

void save_parameters(policy::Policy& policy, State& arrays) {
  auto left = std::span<const float>(policy.parameters());
  for (const policy::Policy::ParameterInfo& info : policy.layout()) {
    const auto slice = left.first(info.size());
    put(arrays, std::string(prefix) + info.name, std::vector<float>(slice.begin(), slice.end()), info.shape);
    left = left.subspan(slice.size());
  }
  EMPLACE_CHECK(left.empty(), "the policy's layout does not cover its parameters");
}

namespace {

// The first array that does not fit the policy, as a sentence; "" if all fit.
std::string misfit(const policy::Policy& policy, const State& arrays) {
  const std::vector<policy::Policy::ParameterInfo> layout = policy.layout();
  for (const policy::Policy::ParameterInfo& info : layout) {
    const std::string name = std::string(prefix) + info.name;
    const auto found = arrays.find(name);
    if (found == arrays.end()) return name + " is missing: the checkpoint is of another policy or of other problems";
    if (!std::holds_alternative<std::vector<float>>(found->second.data)) return name + " is not of 32-bit floats";
    if (found->second.shape != info.shape)
      return fmt::format("{} is {}, wanted {}: the checkpoint is of other problems or other options", name,
                         str(found->second.shape), str(info.shape));
  }
  for (const auto& [name, array] : arrays)
    if (name.starts_with(prefix) &&
        std::ranges::none_of(layout, [&](const auto& info) { return name.substr(prefix.size()) == info.name; }))
      return fmt::format("{} is unknown to the policy: the checkpoint is of another one or of other problems", name);
  return "";
}

}  // namespace

void load_parameters(policy::Policy& policy, const State& arrays, const std::string& place) {
  if (const std::string what = misfit(policy, arrays); !what.empty()) throw InputError(place, "{}", what);
  const std::span<float> parameters = policy.parameters();
  std::vector<float> values;
  for (const policy::Policy::ParameterInfo& info : policy.layout()) {
    const std::string name = std::string(prefix) + info.name;
    values.insert(values.end(), get<float>(arrays, name).begin(), get<float>(arrays, name).end());
  }
  EMPLACE_CHECK(values.size() == parameters.size());
  std::ranges::copy(values, parameters.begin());
  reading(place, [&] { policy.parameters_changed(); });
}

Recipe recipe_of(const Checkpoint& checkpoint, const std::string& place) {
  const auto config = checkpoint.attributes.find(config_attribute);
  if (config == checkpoint.attributes.end())
    throw InputError(place, "attribute {} of the checkpoint is missing", quote(config_attribute));
  return make_recipe(ConfigTable::parse_toml(config->second, place + ": the checkpoint's config"));
}

TrainedPolicy TrainedPolicy::load(const std::string& run) {
  if (!has_checkpoint(run)) throw InputError(run, "is not a run folder with a checkpoint (`emplace train` makes them)");
  Checkpoint checkpoint = load_newest_checkpoint(run);
  return {run, recipe_of(checkpoint, run), std::move(checkpoint.arrays)};
}

Grouping group_unseen(const RecipeOptions& o, const Problem& problem, const std::string& place) {
  const auto at_most = std::min(static_cast<std::size_t>(o.groups), problem.op_count());
  return make_grouping(problem, grouping_of(o.grouping, place), at_most, place, static_cast<std::uint64_t>(o.seed),
                       o.group_share);
}

Grouping TrainedPolicy::group(const Problem& problem) const { return group_unseen(recipe_.options, problem, run_); }

std::unique_ptr<policy::Policy> TrainedPolicy::make(std::span<const policy::PolicyProblem> problems) const {
  const RecipeOptions& o = recipe_.options;
  auto policy = find_entry(policy::policies(), o.policy, "policy", run_)
                    .make(recipe_.policy_options,
                          {problems, o.op_types, static_cast<std::uint64_t>(o.seed), policy::PolicyUse::place});
  give(*policy, problems);
  return policy;
}

void TrainedPolicy::give(policy::Policy& policy, std::span<const policy::PolicyProblem> problems) const {
  const std::uint64_t trained_for = device_count();
  for (const policy::PolicyProblem& each : problems)
    if (each.problem->device_count() != trained_for && !misfit(policy, arrays_).empty())
      throw InputError(run_, "its policy was trained for {} devices, {} has {}", trained_for, quote(each.problem->name),
                       each.problem->device_count());
  load_parameters(policy, arrays_, run_);
}

search::PlacerResult TrainedPolicy::place(const source::LoadedProblem& loaded,
                                          const search::PlacerRequest& request) const {
  const RecipeOptions& o = recipe_.options;
  const policy::PolicyEntry& entry = find_entry(policy::policies(), o.policy, "policy", run_);
  if (entry.wrong_schedule)
    if (const std::string reason = entry.wrong_schedule(recipe_.policy_options, request.schedule); !reason.empty())
      throw InputError(run_, "policy {}: {}", quote(o.policy), reason);
  const policy::PolicyProblem problem(&loaded.problem, group(loaded.problem));
  const auto policy = make({&problem, 1});
  try {
    const learn::Best best = place_with_policy(*policy, problem, request);
    search::PlacerResult result;
    result.placement = best.placement;
    result.outcome = best.outcome;
    result.evaluations = best.evaluation;
    return result;
  } catch (const NotFinite& error) {  // finite parameters may still overflow
    throw NotFinite("{}: {}; its training diverged", run_, error.what());
  }
}

learn::Best place_with_policy(const policy::Policy& policy, const policy::PolicyProblem& problem,
                              const search::PlacerRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const std::uint64_t a_sample = policy.rounds(0);
  constexpr std::uint64_t batch = 16;
  learn::Best best;
  std::uint64_t evaluations = 0;
  std::vector<policy::Rollout> rollouts;
  learn::SamplingRequest next{.seed = request.seed,
                              .update = learn::update_after_training(request.seed),
                              .samples = 1,
                              .greedy = true,
                              .schedule = request.schedule};
  const auto draw = [&] {
    const Placement so_far = best.placement;
    next.best = {best.any ? &so_far : nullptr};
    learn::sample_rollouts(policy, *request.evaluator, {&problem, 1}, next, rollouts,
                           [&](const policy::Rollout& rollout) {
                             ++evaluations;
                             if (!best.any || better(rollout.outcome, best.outcome))
                               best = {true, rollout.placement, rollout.outcome, 0};
                           });
    if (!request.on_progress) return;
    const double share =
        request.evaluations ? static_cast<double>(evaluations) / static_cast<double>(*request.evaluations) : 0;
    request.on_progress({.method = "samples", .progress = share, .evaluations = evaluations, .best = best.outcome});
  };
  draw();
  next.greedy = false;
  const auto stop = [&] { return request.stop && request.stop(); };
  while ((request.evaluations || request.seconds) && !stop()) {
    if (request.seconds && elapsed() >= *request.seconds) break;
    std::uint64_t affordable = batch;
    if (request.evaluations)
      affordable = std::min(batch, (*request.evaluations - std::min(*request.evaluations, evaluations)) / a_sample);
    if (affordable == 0) break;
    ++next.update;
    next.samples = affordable;
    draw();
  }
  best.evaluation = evaluations;
  return best;
}

std::string TrainedPolicy::unseen_types(const Problem& problem) const {
  if (!find_entry(policy::policies(), recipe_.options.policy, "policy", run_).reads_op_types) return "";
  std::map<std::string, std::size_t> unseen;
  std::size_t ops = 0;
  for (const std::string& type : problem.op_types)
    if (!std::ranges::binary_search(recipe_.options.op_types, type)) {
      ++unseen[type];
      ++ops;
    }
  if (ops == 0) return "";
  std::vector<std::string> names;
  for (const auto& [type, count] : unseen) names.push_back(fmt::format("{} ({})", quote(type), count));
  return fmt::format("{} ops of types that the policy never saw: {}", ops, join(names, ", "));
}

}  // namespace emplace::experiment
