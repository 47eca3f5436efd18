#include "experiment/run/run_subject.hpp"

#include "experiment/run/next_commands.hpp"
#include "experiment/run/run_folder.hpp"

namespace emplace::experiment {

verdict::Subject subject_of_run(const Recipe& recipe, const RunResult& result) {
  const std::vector<std::string> sources = recipe.sources();
  PlacedSubject placed{.options = recipe.source,
                       .schedule = schedule_of(recipe.options.schedule, recipe.place),
                       .objective = objective_of(recipe.options.objective, recipe.place),
                       .run = result.run,
                       .of_several = sources.size() > 1,
                       .has_page = result.has_page,
                       .problem = result.problem,
                       .placement = result.placement};
  if (result.position < sources.size()) {
    placed.source = sources[result.position];
    placed.file = result.run + "/" + best_placement_file(result.position, sources.size());
    // `place` refuses demands that match in another problem only.
    placed.constraints = those_that_match(recipe.constraints().constraints(), *result.problem);
  }
  return {.method = recipe.options.policy,
          .outcome = {},
          .without_quick = result.position < sources.size() && !recipe.options.demonstrations,
          .commands = next_commands(placed)};
}

}  // namespace emplace::experiment
