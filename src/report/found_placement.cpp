#include "report/found_placement.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "experiment/run/run_folder.hpp"
#include "experiment/run/run_subject.hpp"
#include "formats/workload/workload.hpp"

namespace emplace::report {

namespace {

// The keys, besides the source, on which a problem depends, as TOML.
std::string cost_keys(const experiment::Recipe& recipe) {
  constexpr std::string_view problem_keys[] = {"batch", "shape", "roofline", "pin", "forbid", "together", "max_cuts"};
  ConfigTable table = recipe.resolved();
  for (const std::string& key : table.keys())
    if (std::ranges::find(problem_keys, key) == std::end(problem_keys)) table.erase(key);
  return table.to_toml();
}

void find(FoundPlacement& found, const std::string& run, std::size_t problem, ProblemCache& problems) {
  const experiment::RecipeOptions& o = found.recipe.options;
  const std::string& place = found.recipe.place;
  const std::string file = run + "/" + experiment::best_placement_file(problem, found.recipe.sources().size());
  if (!file_exists(file)) {
    found.missing = file + " is not there: the run has not written a placement yet";
    return;
  }
  found.scoring = {schedule_of(o.schedule, place), objective_of(o.objective, place)};
  found.loaded = problems.load(found.recipe, problem);
  found.bound_file = run + (problem == 0 ? "/bound.json" : fmt::format("/bound.{}.json", problem));
  found.units = make_grouping(found.problem(), grouping_of(o.grouping, place), static_cast<std::size_t>(o.groups),
                              place, static_cast<std::uint64_t>(o.seed), o.group_share);
  found.placement = formats::read_placement_text(read_file(file), file, found.problem()).placement;
  if (found.scoring.schedule != Schedule::fifo && found.placement.order.empty())
    throw InputError(file, "the schedule {} needs an order, and the placement has none",
                     name_of(found.scoring.schedule));
  found.subject = experiment::subject_of_run(
      found.recipe,
      {.run = run, .position = problem, .problem = &found.problem(), .placement = &found.placement, .has_page = true});
}

// Stores the message of an error in found.missing. The page of a run whose model cannot be loaded any more still has
// its curves.
template <class Do>
void or_missing(FoundPlacement& found, const Do& act) {
  try {
    act();
  } catch (const InputError& error) {
    found.missing = error.what();
  } catch (const EnvironmentError& error) {
    found.missing = error.what();
  }
}

}  // namespace

std::shared_ptr<const source::LoadedProblem> ProblemCache::load(const experiment::Recipe& recipe, std::size_t problem) {
  const experiment::RecipeOptions& options = recipe.options;
  const std::string source = recipe.sources()[problem];
  std::shared_ptr<const source::LoadedProblem>& loaded = problems_[source + "\n" + cost_keys(recipe)];
  if (!loaded) {
    source::LoadedProblem made = options.graph.empty()
                                     ? source::load_problem(source, recipe.source)
                                     : source::load_problem(options.graph, options.machine, recipe.source);
    recipe.constraints().apply(made.problem);
    loaded = std::make_shared<const source::LoadedProblem>(std::move(made));
  }
  return loaded;
}

std::vector<FoundPlacement> found_placements(const std::string& run, std::size_t most, ProblemCache& problems) {
  FoundPlacement first;
  or_missing(first, [&] { first.recipe = experiment::make_recipe(experiment::RunFolder::config_of(run)); });
  if (!first.missing.empty()) return {first};
  const std::vector<std::string> sources = first.recipe.sources();
  std::vector<FoundPlacement> list(std::min(most, sources.size()), first);
  for (std::size_t problem = 0; problem < list.size(); ++problem) {
    list[problem].source = sources[problem];
    or_missing(list[problem], [&] { find(list[problem], run, problem, problems); });
  }
  return list;
}

}  // namespace emplace::report
