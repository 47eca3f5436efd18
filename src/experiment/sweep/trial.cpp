#include "experiment/sweep/trial.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>

#include "base/not_finite.hpp"
#include "emplace/base/error.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "experiment/sweep/objective.hpp"

namespace emplace::experiment {

namespace {

using nlohmann::json;

// The step time (or load) of each problem's best placement, in seconds; infinity if none is feasible.
std::vector<double> best_seconds(const TrainedRecipe& trained) {
  std::vector<double> seconds;
  for (const std::optional<TrainedPlacement>& best : trained.best)
    seconds.push_back(best && best->outcome.feasible() ? to_seconds(best->outcome.makespan)
                                                       : std::numeric_limits<double>::infinity());
  return seconds;
}

json to_json(const Work& work) { return {{"trial", work.trial}, {"rung", work.rung}}; }
Work work_from(const json& value) { return {value.at("trial"), value.at("rung")}; }

}  // namespace

std::string run_of_seed(const Sweep& sweep, const std::string& folder, std::int64_t seed) {
  return sweep.seeds.size() == 1 ? folder : fmt::format("{}/seed-{}", folder, seed);
}

TrialTask task_of(const Sweep& sweep, const SweepStrategy& strategy, Work work, const std::string& folder) {
  TrialTask task{work, {}, {}};
  for (const std::int64_t seed : sweep.seeds)
    task.recipes.push_back(
        sweep.recipe(strategy.assignment(work.trial), seed, strategy.share(work.rung), run_of_seed(sweep, folder, seed))
            .to_toml());
  return task;
}

TrialAnswer train_trial(const TrialTask& task, dist::World* part, const std::function<bool()>& stop) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  JobLimits limits{.stop = stop, .deadline = {}};
  if (task.seconds_left)
    limits.deadline =
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*task.seconds_left));
  TrialAnswer answer{.work = task.work, .undone = {}, .result = {}};
  std::vector<std::vector<double>> seconds;
  try {
    for (const std::string& text : task.recipes) {
      const TrainedRecipe trained = train_recipe(ConfigTable::parse_toml(text, "sweep"), part, limits);
      answer.interrupted = !trained.finished;
      if (answer.interrupted) return answer;
      seconds.push_back(best_seconds(trained));
      answer.result.updates += trained.updates;
      answer.result.evaluations += trained.evaluations;
      answer.result.seconds += trained.seconds;  // including earlier sessions
    }
    answer.result.objective = trial_objective(seconds);
    if (!answer.result.objective) answer.result.error = "no feasible placement was found";
  } catch (const InUse& error) {
    answer.undone = error.what();
  } catch (const NotFinite& error) {
    answer.result.error = error.what();
  } catch (const dist::RankFailure& error) {
    answer.result.error = error.what();
  } catch (const EnvironmentError& error) {
    answer.undone = error.what();
  } catch (const std::bad_alloc&) {
    answer.result.error = "out of memory";
  } catch (const std::exception& error) {
    answer.result.error = error.what();
  }
  if (answer.result.seconds == 0) answer.result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return answer;
}

std::string to_text(const TrialTask& task) {
  json text = {{"work", to_json(task.work)}, {"recipes", task.recipes}};
  if (task.seconds_left) text["seconds_left"] = *task.seconds_left;
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

TrialTask task_from(const std::string& text) {
  const json value = json::parse(text);
  TrialTask task{work_from(value.at("work")), value.at("recipes"), {}};
  if (value.contains("seconds_left")) task.seconds_left = value.at("seconds_left");
  return task;
}

std::string to_text(const TrialAnswer& answer) {
  const TrialResult& result = answer.result;
  json text = {{"work", to_json(answer.work)},     {"interrupted", answer.interrupted},
               {"undone", answer.undone},          {"error", result.error},
               {"seconds", result.seconds},        {"updates", result.updates},
               {"evaluations", result.evaluations}};
  if (result.objective) text["objective"] = *result.objective;
  // Bytes that are not UTF-8 are replaced: a message may quote a file.
  return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

TrialAnswer answer_from(const std::string& text) {
  const json value = json::parse(text);
  TrialAnswer answer{work_from(value.at("work")), value.at("interrupted"), value.at("undone"), {}};
  answer.result.error = value.at("error");
  answer.result.seconds = value.at("seconds");
  answer.result.updates = value.at("updates");
  answer.result.evaluations = value.at("evaluations");
  if (value.contains("objective")) answer.result.objective = value.at("objective");
  return answer;
}

}  // namespace emplace::experiment
