#include "experiment/run/run_subject.hpp"

#include "experiment/run/run_folder.hpp"

namespace emplace::experiment {

verdict::Subject subject_of_run(const Recipe& recipe, const std::string& run, std::size_t problem) {
  const std::vector<std::string> sources = recipe.sources();
  verdict::Subject subject{.method = recipe.options.policy, .outcome = {}, .run = run};
  subject.placement_file = run + "/" + best_placement_file(problem, sources.size());
  if (problem < sources.size()) subject.problem = sources[problem];
  // Of several problems, `place` would refuse the constraints that match in another one only.
  if (sources.size() == 1) subject.constraints = arguments_of(recipe.constraints().constraints());
  return subject;
}

}  // namespace emplace::experiment
