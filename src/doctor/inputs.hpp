// Finds which inputs of a recipe have an effect: one input at a time is changed, and a short training of the changed
// recipe is compared bit by bit with one of the unchanged recipe. An input that changes nothing is a mistake in the
// recipe (another option switches it off) or a bug of this program.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace::doctor {

struct ExamineLimits {
  std::uint64_t updates = 20;  // of each training; fewer if so many take too long
  double seconds = 120;        // for all trainings; inputs not tried by then are reported
  std::string folder;          // an empty folder for the run folders of the trainings
  std::function<void(double share, const std::string& what)> progress = {};
};

// A key of the recipe or of a method's table ("post.beta").
struct KeyTrial {
  enum class Effect {
    outcome,    // on rewards, parameters or the best placement
    state,      // only on the learner's state or on metrics.csv: with more updates it may change the outcome
    none,       // on nothing
    by_design,  // on nothing, which is required of this key
    broken,     // on the outcome, though this key must not have an effect
    not_tried,
  };

  std::string key, value;          // value: "none" if the recipe has none
  std::vector<std::string> tried;  // values tried; the last one if it changed the outcome
  std::vector<std::string>
      changed;  // "best placement", "rewards", "parameters", "metrics", "learner's state", "it fails"
  Effect effect = Effect::not_tried;
  std::string reason;  // why it was not tried
};

// One kind of the problem's numbers, changed for one device or channel at a time. A change has an effect if the best
// placement found gets another time, or another reason why it is not feasible.
struct ProblemTrial {
  std::string input;   // "op seconds"
  std::string change;  // "x 2"
  // Names of devices or channels; "all" if all were changed at once.
  std::vector<std::string> with_effect, without, not_tried;
  std::string reason = {};  // why the first of `not_tried` was not tried
};

struct Examination {
  std::uint64_t updates = 0, evaluations = 0;  // of each training
  bool repeatable = true;                      // false: two trainings of the unchanged recipe differ in a bit
  std::vector<KeyTrial> keys;
  std::string placement;              // the one used for `problem`: "12.3 ms", or "12.3 ms, infeasible"
  std::vector<ProblemTrial> problem;  // of the recipe's first problem
  bool interrupted = false;
};

// InputError for a recipe that is refused, or whose evaluator measures times, which differ in each run.
Examination examine_inputs(const ConfigTable& recipe, const ExamineLimits& limits);

// Whether the outcome must not depend on a key of a recipe.
bool without_effect_by_design(const std::string& key);

}  // namespace emplace::doctor
