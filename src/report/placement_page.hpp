// A placement that no training found as a page for a browser: its verdict, what limits the step, the step device by
// device, memory, and the graph by modules.
#pragma once

#include <memory>
#include <string>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/source/load_problem.hpp"
#include "verdict/verdict.hpp"

namespace emplace::report {

struct PlacementSubject {
  std::string source;     // of the problem, as the user names it
  std::string method;     // that found the placement
  std::string file = {};  // that the placement was read from; "": the method found it just now
  std::shared_ptr<const source::LoadedProblem> loaded;
  Placement placement;
  evaluate::Scoring scoring;
  search::LowerBound bound;
  std::uint64_t evaluations = 1;
};

// The page as HTML that needs no other file and no network. Runs no placer and proves no bound.
std::string placement_page(const PlacementSubject& subject, const verdict::Verdict& verdict);

}  // namespace emplace::report
