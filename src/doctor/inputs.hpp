// Which inputs of a recipe matter: each is changed by itself, and a short training of the changed recipe is compared
// bit by bit with one of the recipe as it is. An input that is read and changes nothing is a mistake, of the recipe's
// author (an option that another one switches off) or ours.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "emplace/base/config.hpp"

namespace emplace::doctor {

struct ExamineLimits {
  std::uint64_t updates = 20;  // of each training, fewer where so many take too long
  double seconds = 120;        // for all of it; what is not tried by then is said
  std::string folder;          // an empty one, for the run folders of the trainings
  std::function<void(double share, const std::string& what)> progress = {};
};

// A key of the recipe or of a method's table ("post.beta").
struct KeyTrial {
  enum class Effect {
    outcome,    // on rewards, parameters or the best placement
    state,      // on what the learner keeps or metrics.csv shows alone: it may come to matter, or not
    none,       // on nothing
    by_design,  // on nothing, and it must not have any
    broken,     // on the outcome, though it must not have any
    not_tried,
  };

  std::string key, value;          // "none" where the recipe has none
  std::vector<std::string> tried;  // until one changed the outcome
  std::vector<std::string>
      changed;  // "best placement", "rewards", "parameters", "metrics", "learner's state", "it fails"
  Effect effect = Effect::not_tried;
  std::string reason;  // why it was not tried
};

// One kind of the problem's numbers, changed thing by thing, and what came of it for the best placement found: another
// time, or another reason why it is not feasible.
struct ProblemTrial {
  std::string input;   // "op seconds"
  std::string change;  // "x 2"
  // Names of devices or channels; "all" where all were changed at once.
  std::vector<std::string> with_effect, without, not_tried;
  std::string reason = {};  // why the first of them was not tried
};

struct Examination {
  std::uint64_t updates = 0, evaluations = 0;  // of each training
  bool repeatable = true;                      // false: the recipe as it is, twice, gave other bits
  std::vector<KeyTrial> keys;
  std::string placement;              // of the problem's trials: "12.3 ms", or why it is not feasible
  std::vector<ProblemTrial> problem;  // of the first one
  bool interrupted = false;
};

// InputError for a recipe that is refused, or whose times are measured: they differ by themselves.
Examination examine_inputs(const ConfigTable& recipe, const ExamineLimits& limits);

// Whether the outcome must not depend on a key of a recipe.
bool without_effect_by_design(const std::string& key);

}  // namespace emplace::doctor
