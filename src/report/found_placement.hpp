// What a run found, to be looked at: its problems built again from config.toml, and the best placement of each.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emplace/evaluate/evaluator.hpp"
#include "emplace/experiment/recipe.hpp"
#include "emplace/problem/grouping.hpp"
#include "emplace/problem/placement.hpp"
#include "emplace/source/load_problem.hpp"

namespace emplace::report {

struct FoundPlacement {
  std::string source;   // of the problem, as the recipe names it
  std::string missing;  // why there is nothing to show, one sentence; "" if there is, and only then the rest is there
  std::shared_ptr<const source::LoadedProblem> loaded;
  Placement placement;
  evaluate::Scoring scoring;  // the run's
  Grouping units;             // what the run placed as one
  experiment::Recipe recipe;

  [[nodiscard]] const Problem& problem() const { return loaded->problem; }
};

// Builds each problem once, however many runs are about it.
class ProblemCache {
 public:
  // InputError and EnvironmentError as load_problem().
  std::shared_ptr<const source::LoadedProblem> load(const experiment::Recipe& recipe, std::size_t problem);

 private:
  std::map<std::string, std::shared_ptr<const source::LoadedProblem>> problems_;
};

// Of the first `most` problems of the run in this folder, in the recipe's order; one, with nothing to show, where its
// config.toml is none that this program understands.
std::vector<FoundPlacement> found_placements(const std::string& run, std::size_t most, ProblemCache& shelf);

}  // namespace emplace::report
