// Saves the parameters of a policy in a run folder, and makes the policy again from them for other problems.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "emplace/base/state.hpp"
#include "emplace/policy/policy.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/run/checkpoint.hpp"
#include "learn/trainer.hpp"

namespace emplace::experiment {

// The name of the checkpoint's array with the number of devices that the policy was trained for.
inline constexpr const char* device_count_array = "trained_for/devices";
// The name of the checkpoint's attribute with the resolved recipe.
inline constexpr const char* config_attribute = "config";

// Adds the policy's parameters() to `arrays`, as arrays "policy/NAME" by layout().
void save_parameters(policy::Policy& policy, State& arrays);

// Sets the policy's parameters from `arrays`; ignores arrays that are not under "policy/". InputError, which begins
// with `place`, for arrays that are missing, unknown, or of another shape, for an infinite value where the policy's own
// is finite, and for values that the policy itself refuses.
void load_parameters(policy::Policy& policy, const State& arrays, const std::string& place);

// The recipe of the run that wrote a checkpoint. InputError, which begins with `place`, if there is none.
Recipe recipe_of(const Checkpoint& checkpoint, const std::string& place);

// Groups the ops of a problem that a training with this recipe does not train on; never into more units than there are
// ops. `place` begins the message of an InputError.
Grouping group_unseen(const RecipeOptions& recipe, const Problem& problem, const std::string& place);

// A run's recipe and parameters, to place other problems than those of the run.
class TrainedPolicy {
 public:
  // Loads the newest undamaged checkpoint of the run folder. InputError if there is none, or it has another format
  // version.
  static TrainedPolicy load(const std::string& run);

  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] const std::string& run() const { return run_; }

  // The number of devices of the first problem that it was trained on.
  [[nodiscard]] std::uint64_t device_count() const { return get_scalar<std::uint64_t>(arrays_, device_count_array); }
  // group_unseen() by the run's recipe.
  [[nodiscard]] Grouping group(const Problem& problem) const;
  // The policy with the run's parameters, ready to place these problems. InputError if the number of devices differs,
  // or the number of units for a policy that is bound to one graph.
  [[nodiscard]] std::unique_ptr<policy::Policy> make(std::span<const policy::PolicyProblem> problems) const;
  // Copies the run's parameters into a policy made for these problems; InputError as above.
  void give(policy::Policy& policy, std::span<const policy::PolicyProblem> problems) const;
  // "3 ops of types that the policy never saw: 'Einsum' (2), 'Erf' (1)"; empty if there are none, or if the policy does
  // not use types.
  [[nodiscard]] std::string unseen_types(const Problem& problem) const;
  // Calls place_with_policy() for a problem that the run was not trained on. NotFinite if the training diverged.
  [[nodiscard]] search::PlacerResult place(const source::LoadedProblem& loaded,
                                           const search::PlacerRequest& request) const;

 private:
  TrainedPolicy(std::string run, Recipe recipe, State arrays)
      : run_(std::move(run)), recipe_(std::move(recipe)), arrays_(std::move(arrays)) {}

  std::string run_;
  Recipe recipe_;
  State arrays_;
};

// The better of the policy's likeliest placement and the best of its samples, as many as the request's budgets allow;
// without a budget only the likeliest one. The policy must be made for this one problem. `evaluation` counts all
// evaluations.
learn::Best place_with_policy(const policy::Policy& policy, const policy::PolicyProblem& problem,
                              const search::PlacerRequest& request);

}  // namespace emplace::experiment
