// What a run folder keeps of its policy, and the policy made of it again for other problems.
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

// The number of devices that a policy was trained for, an array of a checkpoint.
inline constexpr const char* device_count_array = "trained_for/devices";
// The resolved recipe, an attribute.
inline constexpr const char* config_attribute = "config";

// parameters() as arrays "policy/NAME" by layout(), added to `arrays`.
void save_parameters(policy::Policy& policy, State& arrays);

// The other way round; what is not under "policy/" is left alone. InputError, which begins with `place`, for arrays
// that are missing, too many, or of another shape, for an infinite value where the policy's own is finite, and for what
// the policy itself refuses.
void load_parameters(policy::Policy& policy, const State& arrays, const std::string& place);

// The recipe that a checkpoint was written by. InputError, which begins with `place`, if there is none.
Recipe recipe_of(const Checkpoint& checkpoint, const std::string& place);

// The units of a problem as a training by this recipe makes those of a problem that it does not train on; at most as
// many as it has ops. `place` begins the message of an InputError.
Grouping group_unseen(const RecipeOptions& recipe, const Problem& problem, const std::string& place);

// A run's recipe and parameters, for other problems than its own.
class TrainedPolicy {
 public:
  // From the newest sound checkpoint of the run folder. InputError if there is none, or it is of another version.
  static TrainedPolicy load(const std::string& run);

  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] const std::string& run() const { return run_; }

  // group_unseen() by the run's recipe.
  [[nodiscard]] Grouping group(const Problem& problem) const;
  // The policy with the run's parameters, ready to place these problems. InputError where it cannot: another number of
  // devices, or of units where the policy is bound to one graph.
  [[nodiscard]] std::unique_ptr<policy::Policy> make(std::span<const policy::PolicyProblem> problems) const;
  // The run's parameters into a policy made for these problems; InputError as above.
  void give(policy::Policy& policy, std::span<const policy::PolicyProblem> problems) const;
  // "3 ops of types that the policy never saw: 'Einsum' (2), 'Erf' (1)"; empty if there are none, or if it reads no
  // types.
  [[nodiscard]] std::string unseen_types(const Problem& problem) const;
  // place_with_policy() on a problem that it never saw. NotFinite where the training diverged.
  [[nodiscard]] search::PlacerResult place(const source::LoadedProblem& loaded,
                                           const search::PlacerRequest& request) const;

 private:
  TrainedPolicy(std::string run, Recipe recipe, State arrays)
      : run_(std::move(run)), recipe_(std::move(recipe)), arrays_(std::move(arrays)) {}

  std::string run_;
  Recipe recipe_;
  State arrays_;
};

// The likeliest placement of the policy, which was made for this one problem, and the best of samples too as far as the
// request's budgets go; without a budget the likeliest alone. `evaluation` counts all that were made.
learn::Best place_with_policy(const policy::Policy& policy, const policy::PolicyProblem& problem,
                              const search::PlacerRequest& request);

}  // namespace emplace::experiment
