#include "experiment/run/run_subject.hpp"

#include "experiment/run/next_commands.hpp"
#include "experiment/run/run_folder.hpp"

namespace emplace::experiment {

verdict::Subject subject_of_run(const Recipe& recipe, const std::string& run, std::size_t position,
                                const Problem& problem, const Placement* placement) {
  const std::vector<std::string> sources = recipe.sources();
  PlacedSubject placed{.options = recipe.source,
                       .schedule = schedule_of(recipe.options.schedule, recipe.place),
                       .objective = objective_of(recipe.options.objective, recipe.place),
                       .run = run,
                       .of_several = sources.size() > 1,
                       .problem = &problem,
                       .placement = placement};
  if (position < sources.size() && placement != nullptr) {
    placed.source = sources[position];
    placed.file = run + "/" + best_placement_file(position, sources.size());
    // Of several problems, `place` would refuse the constraints that match in another one only.
    if (sources.size() == 1) placed.constraints = recipe.constraints().constraints();
  }
  return {.method = recipe.options.policy, .outcome = {}, .commands = next_commands(placed)};
}

}  // namespace emplace::experiment
