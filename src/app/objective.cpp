#include "app/objective.hpp"
#include "simulate/pipeline/pipeline.hpp"

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::app {

void ObjectiveArgument::add(CommandLine& cli) {
  cli.add_option("--objective", name,
                 "What is minimised: step (default), the time of one step; or pipeline, the load of the busiest device "
                 "for a stream of samples")
      .type_name("step|pipeline");
  cli.add_flag("--overlap", overlap,
               "With pipeline: devices compute while they transfer (a load is the larger of both times)");
  cli.add_flag("--separate-phases", separate_phases,
               "With pipeline: all forwards, then all backwards (the largest of each, added)");
}

Objective ObjectiveArgument::get() const {
  const Objective objective = objective_of(name, "--objective");
  if (objective != Objective::pipeline && (overlap || separate_phases))
    throw InputError(overlap ? "--overlap" : "--separate-phases", "goes with --objective pipeline, found {}", name);
  return objective;
}

std::unique_ptr<simulate::Engine> ObjectiveArgument::make_engine(const Problem& problem, Schedule schedule) const {
  return get() == Objective::pipeline ? simulate::make_pipeline_engine(problem, pipeline())
                                      : simulate::make_exact_engine(problem, schedule);
}

std::string load_table(const Problem& problem, const Placement& placement, const simulate::PipelineOptions& options) {
  TextTable table({"device", "compute", "transfers", "load"});
  const auto text = [](Ticks ticks) { return human_seconds(to_seconds(ticks)); };
  const std::vector<simulate::DeviceLoad> loads = simulate::pipeline_loads(problem, placement);
  for (std::size_t d = 0; d < loads.size(); ++d)
    table.add({problem.devices[d].name, text(loads[d].forward.compute + loads[d].backward.compute),
               text(loads[d].forward.transfer + loads[d].backward.transfer),
               text(simulate::load_of(loads[d], options))});
  return loads.empty() ? std::string() : "\n" + table.str();
}

}  // namespace emplace::app
