#include "objective.hpp"

#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"

namespace emplace::app {

void ObjectiveArgument::add(CLI::App& cli) {
  cli.add_option("--objective", name,
                 "What counts: step (default), the time of one step; or pipeline, the load of the busiest device for a "
                 "stream of samples")
      ->type_name("step|pipeline");
  cli.add_flag("--overlap", overlap, "With pipeline: devices compute while they transfer (the larger counts)");
  cli.add_flag("--separate-phases", separate_phases,
               "With pipeline: all forwards, then all backwards (the largest of each, added)");
}

Objective ObjectiveArgument::get() const {
  const Objective objective = objective_of(name, "--objective");
  if (objective != Objective::pipeline && (overlap || separate_phases))
    throw InputError(overlap ? "--overlap" : "--separate-phases", "goes with --objective pipeline, found {}", name);
  return objective;
}

std::unique_ptr<Engine> ObjectiveArgument::make_engine(const Problem& problem, Schedule schedule) const {
  return get() == Objective::pipeline ? make_pipeline_engine(problem, pipeline())
                                      : make_exact_engine(problem, schedule);
}

std::string load_table(const Problem& problem, const Placement& placement, const PipelineOptions& options) {
  TextTable table({"device", "compute", "transfers", "load"});
  const auto text = [](Ticks ticks) { return human_seconds(to_seconds(ticks)); };
  const std::vector<DeviceLoad> loads = pipeline_loads(problem, placement);
  for (std::size_t d = 0; d < loads.size(); ++d)
    table.add({problem.devices[d].name, text(loads[d].forward.compute + loads[d].backward.compute),
               text(loads[d].forward.transfer + loads[d].backward.transfer), text(load_of(loads[d], options))});
  return loads.empty() ? std::string() : "\n" + table.str();
}

}  // namespace emplace::app
