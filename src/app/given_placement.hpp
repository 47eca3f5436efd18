// The verdict on a placement that the user gave: what `place` says of the one that it found.
#pragma once

#include <string>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/problem/problem.hpp"
#include "emplace/source/load_problem.hpp"
#include "verdict/verdict.hpp"

namespace emplace::app {

struct GivenPlacement {
  std::string source, file;            // PROBLEM and PLACEMENT of the command line
  source::SourceOptions options = {};  // with which a model became the problem
  const Problem* problem = nullptr;
  const Placement* placement = nullptr;
  evaluate::Scoring scoring = {};
  Outcome outcome = {};
  bool has_page = false, is_simulated = false;  // the command makes the report, or is `simulate`: as in PlacedSubject
};

// The placement as the subject of a verdict.
verdict::Subject subject_of(const GivenPlacement& given);

// Beside one device, the expert, a bound, and the quick placers that take a moment. Does not depend on the clock.
verdict::Verdict verdict_on(const GivenPlacement& given);

}  // namespace emplace::app
