// Trainings of recipes, in this process.
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "bind.hpp"
#include "emplace/base/error.hpp"
#include "emplace/experiment/train_recipe.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/recipe/shipped_recipes.hpp"
#include "waiting.hpp"

namespace emplace::python {

namespace {

// Ctrl-C waits for the end of the present update and its checkpoint, however long; a second Ctrl-C does not.
constexpr std::chrono::hours training_patience{24 * 365};

// The recipe of a file or a dictionary, without the keys `left_out`, and with `overrides`.
ConfigTable config_of_recipe(const py::object& recipe, const std::vector<std::string>& left_out,
                             const py::dict& overrides) {
  ConfigTable table = py::isinstance<py::dict>(recipe) ? config_of(recipe, "recipe")
                                                       : experiment::read_recipe(recipe.cast<std::string>(), "train");
  for (const std::string& key : left_out) table.erase(key);
  const ConfigTable over = config_of(overrides, "train");
  std::vector<std::pair<std::string, ConfigValue>> values;
  for (const std::string& key : over.keys()) {
    const ConfigValue& value = *over.find(key);
    const auto* const tables = std::get_if<std::vector<ConfigTable>>(&value.data);
    if (tables == nullptr) {
      values.emplace_back(key, value);
      continue;
    }
    for (const std::string& inner : tables->front().keys())
      values.emplace_back(key + "." + inner, *tables->front().find(inner));
  }
  experiment::apply_values(table, std::move(values));
  return table;
}

// Marks the thread that waits for a training. Trainings take turns, so a training that a callback or a signal handler
// begins on this thread would wait for the outer one, which waits for the callback.
class Waiting {
 public:
  Waiting() {
    if (std::exchange(is_here_, true))
      throw InputError("train", "a callback or signal handler of a training cannot begin another training");
  }
  ~Waiting() { is_here_ = false; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  static thread_local bool is_here_;
};
thread_local bool Waiting::is_here_ = false;

experiment::TrainedRecipe train_in_turn(const ConfigTable& config, bool resume, Meeting& meeting, bool ask) {
  // The process has one log file and one pool of threads for networks.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (meeting.stopped()) return {};
  const auto stop = [&] { return meeting.stopped() || (ask && meeting.ask()); };
  return experiment::train_recipe(config, nullptr, {.stop = stop, .deadline = {}}, {.resume = resume, .wait = false});
}

py::list placements_of(const std::vector<std::string>& names,
                       const std::vector<std::optional<experiment::TrainedPlacement>>& found) {
  const experiment::TrainedPlacement none{.placement = {}, .outcome = {}, .reason = "no update used it"};
  py::list list;
  for (std::size_t p = 0; p < found.size(); ++p) {
    const experiment::TrainedPlacement& best = found[p] ? *found[p] : none;
    const Placement& placement = best.placement;
    list.append(py::make_tuple(names[p], to_array(placement.device),
                               placement.order.empty() ? py::object(py::none()) : to_array(placement.order),
                               best.outcome.makespan, found[p] && best.outcome.feasible(), best.reason,
                               best.evaluation));
  }
  return list;
}

// The run folder that the recipe or an override names.
std::optional<std::string> run_of_recipe(const py::object& recipe, const std::vector<std::string>& left_out,
                                         const py::dict& overrides) {
  const ConfigTable config = config_of_recipe(recipe, left_out, overrides);
  return config.contains("run") ? std::optional(config.text("run")) : std::nullopt;
}

// `after_update` is called with the run folder, also before the first update; it returns true to end the training.
py::dict train(const py::object& recipe, const std::vector<std::string>& left_out, const py::dict& overrides,
               const std::string& default_run, bool resume, const std::optional<py::function>& after_update) {
  const Waiting waiting;
  ConfigTable config = config_of_recipe(recipe, left_out, overrides);
  if (!config.contains("run")) config.set("run", {default_run, "default"});
  const std::string run = config.text("run");
  const bool ask = after_update.has_value();
  const experiment::TrainedRecipe trained =
      work_and_wait([config, resume, ask](Meeting& meeting) { return train_in_turn(config, resume, meeting, ask); },
                    training_patience, [&] { return (*after_update)(run).cast<bool>(); });
  py::dict result;
  result["problems"] = placements_of(trained.problem_names, trained.best);
  result["held_out"] = placements_of(trained.held_out_names, trained.held_out);
  result["run"] = run;
  result["finished"] = trained.finished;
  result["updates"] = trained.updates;
  result["evaluations"] = trained.evaluations;
  result["seconds"] = trained.seconds;
  return result;
}

}  // namespace

void add_train(py::module_& module) {
  module.def("run_of_recipe", run_of_recipe);
  module.def("train", train);
}

}  // namespace emplace::python
