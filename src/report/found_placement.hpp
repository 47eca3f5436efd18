// What a run found: its problems, built again from config.toml, and the best placement of each.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "verdict/verdict.hpp"

namespace emplace::report {

struct FoundPlacement {
  std::string source;   // of the problem, as the recipe names it
  std::string missing;  // one sentence: why there is no placement to show; if not "", the members below are not set
  std::shared_ptr<const source::LoadedProblem> loaded;
  Placement placement;
  evaluate::Scoring scoring;  // schedule and objective of the run
  Grouping units;             // groups of ops that the run placed together
  experiment::Recipe recipe;
  search::LowerBound bound;              // of the problem if it is known; method "": it is to be proved
  verdict::Subject subject;              // how it was made, for the verdict; its outcome is not set
  std::optional<verdict::Verdict> head;  // the verdict if it is known; none: it is to be found
  std::string bound_file;                // where the run's folder keeps the bound of this problem; "": it is not kept

  [[nodiscard]] const Problem& problem() const { return loaded->problem; }
};

// Builds each problem once, even if several runs place it.
class ProblemCache {
 public:
  // Throws InputError and EnvironmentError like load_problem().
  std::shared_ptr<const source::LoadedProblem> load(const experiment::Recipe& recipe, std::size_t problem);

 private:
  std::map<std::string, std::shared_ptr<const source::LoadedProblem>> problems_;
};

// The placements of the first `most` problems of the run in this folder, in the recipe's order. If its config.toml
// cannot be read, the result has one element, whose `missing` gives the reason.
std::vector<FoundPlacement> found_placements(const std::string& run, std::size_t most, ProblemCache& problems);

}  // namespace emplace::report
