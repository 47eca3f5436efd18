// The best placement of a problem within a time, with no method to choose: quick placers, the portfolio, bounds, and a
// training where learning can pay.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "emplace/dist/world.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/source/load_problem.hpp"
#include "verdict/references.hpp"

namespace emplace::experiment {

struct AutomaticRequest {
  const source::LoadedProblem* loaded = nullptr;
  evaluate::Scoring scoring;
  double seconds = 60;
  std::uint64_t seed = 0;
  dist::World* world = nullptr;  // null: this process does all the work
  std::string run;               // the folder of a training, if there is one
  std::function<bool()> stop = {};
  // The phase ("quick placers", "search", "bound", "training"), the best step time so far (none yet: no value) and the
  // share of the time that is used.
  std::function<void(std::string_view phase, std::optional<Ticks> best, double share)> on_progress = {};
  std::function<void(const verdict::References& references)> on_references = {};  // called once, after at most 2 s
};

struct AutomaticResult {
  Placement placement;
  Outcome outcome;
  std::string method;  // that found it: a placer, or the policy of the training
  verdict::References references;
  bool proved_optimal = false;
  // The best placement found, where one device is used in its place because the best gains less than 0.5 %.
  std::optional<verdict::Reference> split;
  std::string why_nothing;  // the proof that no placement is feasible; "": not proved
  std::uint64_t evaluations = 0;
  double seconds = 0;
  std::string recipe;    // of the training; "": there was none
  std::string learning;  // one sentence: why there was a training or none, and what it found
  // "the time is up", or "stopped on request"; "" if it ended because no more than 0.5 % could be gained.
  std::string why_ended;
};

// Throws InputError if no time is given. The first feasible placement is known after the quick placers.
AutomaticResult place_automatically(const AutomaticRequest& request);

// Whether a training can pay for this gap between the best placement and the bound, this size and this time; the answer
// begins with "yes" or "no" and says why, and names the recipe for "yes".
struct LearningChoice {
  std::string recipe;  // "": no training
  std::string why;     // one sentence without a full stop
};
LearningChoice choose_learning(const Problem& problem, const evaluate::Scoring& scoring, double gap, double seconds);

}  // namespace emplace::experiment
