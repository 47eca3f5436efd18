#include "experiment/tables/cell.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

#include "base/files.hpp"
#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "emplace/evaluate/evaluator.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/search/bound.hpp"
#include "emplace/search/placer.hpp"
#include "emplace/source/load_problem.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/recipe_keys.hpp"
#include "experiment/run/placing_backend.hpp"
#include "experiment/run/trained_policy.hpp"
#include "experiment/tables/cell_json.hpp"
#include "formats/workload/workload.hpp"
#include "simulate/pipeline/pipeline.hpp"

namespace emplace::experiment {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Deadline {
  std::optional<Clock::time_point> at;
  [[nodiscard]] bool is_over() const { return at && Clock::now() >= *at; }
};

// Writes the placement's file and returns the outcome as a result.
CellResult placed(const CellTask& task, const Problem& problem, const Placement& placement, const Outcome& outcome,
                  Schedule schedule = Schedule::fifo) {
  write_file(placement_file(task), formats::write_placement_json(problem, placement, schedule));
  CellResult result;
  if (outcome.timed()) result.time = outcome.makespan;
  result.feasible = outcome.feasible();
  result.short_of_memory = outcome.why == Infeasible::memory;
  if (!result.feasible)
    result.reason = simulate::reason_of(objective_of(task.objective, "table"), problem, outcome, placement.device, {});
  return result;
}

evaluate::Scoring scoring_of(const CellTask& task) { return {Schedule::fifo, objective_of(task.objective, "table")}; }

// None if it was stopped.
std::optional<CellResult> place(const CellTask& task, dist::World* part, const std::function<bool()>& ends) {
  const source::LoadedProblem loaded = source::load_problem(task.problem, {});
  const evaluate::Scoring scoring = scoring_of(task);
  const PlacingBackend backend = make_placing_backend(part, loaded.problem, scoring);
  search::PlacerRequest request = request_for(loaded, scoring, backend);
  request.seed = task.seed;
  request.seconds = task.seconds;
  request.evaluations = task.evaluations;
  bool ended = false;
  request.stop = [&] { return ended = ended || ends(); };
  const search::PlacerResult found =
      task.policy.empty() ? search::place_with(task.method, request, ConfigTable::parse_toml(task.options, "table"))
                          : TrainedPolicy::load(task.policy).place(loaded, request);
  if (ended) return std::nullopt;
  CellResult result = placed(task, loaded.problem, found.placement, found.outcome);
  result.evaluations = found.evaluations;
  return result;
}

// The result of a placement that already exists.
std::optional<CellResult> evaluate(const CellTask& task) {
  const source::LoadedProblem loaded = source::load_problem(task.problem, {});
  const Problem* const problems[] = {&loaded.problem};
  const Placement placement =
      formats::read_placement_text(read_file(task.placement), task.placement, loaded.problem).placement;
  const evaluate::EvaluationJob job{0, &placement};
  const auto outcomes = evaluate::make_local_evaluator(problems, scoring_of(task))->evaluate(std::span(&job, 1));
  CellResult result = placed(task, loaded.problem, placement, outcomes.front());
  result.evaluations = 1;
  return result;
}

// `ends`, asked every 50 ms at most: bounds ask all the time, and under mpirun a question may cost a time slice.
std::function<bool()> paced(const std::function<bool()>& ends) {
  return [ends, answer = false, next = Clock::now()]() mutable {
    if (const auto now = Clock::now(); !answer && now >= next) {
      answer = ends();
      next = now + std::chrono::milliseconds(50);
    }
    return answer;
  };
}

// None if it was stopped, or the time that is left was over before the cell's own time.
std::optional<CellResult> bound(const CellTask& task, const std::function<bool()>& ends) {
  const double seconds = task.seconds.value_or(0);
  const double granted = std::min(seconds, std::max(0.0, task.seconds_left.value_or(seconds)));
  const source::LoadedProblem loaded = source::load_problem(task.problem, {});
  const search::BoundReport report = search::lower_bounds(loaded.problem, scoring_of(task).objective, granted, ends);
  if (report.cut_short && (granted < seconds || ends())) return std::nullopt;
  CellResult result;
  if (report.infeasible) {
    result.reason = *report.infeasible;
    return result;
  }
  result.time = report.best().ticks;
  result.feasible = true;
  return result;
}

// A stop saves the training too; only a crash loses what was learned since the last checkpoint.
constexpr std::chrono::seconds between_checkpoints{60};

// None if it was stopped.
std::optional<CellResult> train(const CellTask& task, dist::World* part, const JobLimits& limits) {
  const ConfigTable recipe = ConfigTable::parse_toml(task.recipe, "table");
  const TrainedRecipe trained = train_recipe(recipe, part, limits, {.between_checkpoints = between_checkpoints});
  if (!trained.finished) return std::nullopt;
  const std::optional<TrainedPlacement>& best = trained.best.front();
  CellResult result;
  if (best && !task.problem.empty())
    result = placed(task, source::load_problem(task.problem, {}).problem, best->placement, best->outcome,
                    schedule_of(make_recipe(recipe).options.schedule, "table"));
  result.evaluations = trained.evaluations;
  result.seconds = trained.seconds;
  return result;
}

}  // namespace

namespace {

// Whether two recipes of cells compute the same, in whatever folder. A recipe that an older program resolved lacks the
// options that came later; those have their defaults, with which older programs computed.
bool compute_the_same(const std::string& then, const std::string& now) {
  if (then.empty() || now.empty()) return then == now;
  const auto whole = [](const std::string& toml) { return with_defaults(ConfigTable::parse_toml(toml, "table")); };
  return difference_in(whole(then), whole(now),
                       [](const std::string& key) { return affects_of(key) == Affects::place; })
      .empty();
}

bool is_same_task(json then, json now) {
  if (!compute_the_same(then.at("recipe"), now.at("recipe"))) return false;
  then.erase("recipe");
  now.erase("recipe");
  return then == now;
}

}  // namespace

std::string result_file(const CellTask& task) { return fmt::format("{}/cells/{}.json", task.folder, task.id); }
std::string placement_file(const CellTask& task) {
  return fmt::format("{}/cells/{}.placement.json", task.folder, task.id);
}

std::optional<CellResult> finished_result(const CellTask& task) {
  const std::string file = result_file(task);
  if (!file_exists(file)) return std::nullopt;
  try {
    const json value = json::parse(read_file(file));
    if (!is_same_task(value.at("task"), identity_of(task))) return std::nullopt;  // the table changed
    const CellResult result = cell_result_from(value.at("result"));
    return result.feasible && !result.time ? std::nullopt : std::optional(result);
  } catch (const json::exception&) {
    return std::nullopt;  // not a file of this program: the cell is made again
  } catch (const InputError&) {
    return std::nullopt;  // likewise, in its recipe
  }
}

void keep_result(const CellTask& task, const CellResult& result) {
  write_file(result_file(task),
             json{{"problem", task.problem}, {"task", identity_of(task)}, {"result", to_json(result)}}.dump(
                 2, ' ', false, json::error_handler_t::replace) +
                 "\n");
}

CellAnswer make_cell(const CellTask& task, dist::World* part, const std::function<bool()>& stop) {
  const auto start = Clock::now();
  Deadline deadline;
  if (task.seconds_left)
    deadline.at =
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*task.seconds_left));
  const auto ends = [&] { return (stop && stop()) || deadline.is_over(); };
  CellAnswer answer{.id = task.id};
  try {
    const auto result = !task.placement.empty()  ? evaluate(task)
                        : !task.recipe.empty()   ? train(task, part, {.stop = stop, .deadline = deadline.at})
                        : task.method == "bound" ? bound(task, paced(ends))
                                                 : place(task, part, ends);
    answer.interrupted = !result;
    if (result) answer.result = *result;
  } catch (const InUse& error) {
    answer.undone = error.what();
  } catch (const InputError& error) {
    answer.result.reason = error.what();
  } catch (const NotFinite& error) {
    answer.result.reason = error.what();
  } catch (const EnvironmentError& error) {
    answer.undone = error.what();
  } catch (const std::bad_alloc&) {
    answer.undone = "out of memory";
  } catch (const std::exception& error) {
    answer.undone = error.what();
  }
  // Trainings have set their seconds, which include earlier sessions.
  if (answer.result.seconds == 0) answer.result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!answer.interrupted && answer.undone.empty()) keep_result(task, answer.result);
  return answer;
}

}  // namespace emplace::experiment
