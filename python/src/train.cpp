// Trainings of recipes, in this process.
#include <chrono>
#include <mutex>
#include <optional>

#include "bind.hpp"
#include "emplace/base/error.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/run/training.hpp"
#include "experiment/run/training_backend.hpp"
#include "simulate/pipeline/pipeline.hpp"
#include "waiting.hpp"

namespace emplace::python {

namespace {

// Ctrl-C waits for the end of the present update and its checkpoint, however long; a second Ctrl-C does not.
constexpr std::chrono::hours training_patience{24 * 365};

// The recipe of a file or a dictionary, without the keys `left_out`, and with `overrides`.
ConfigTable config_of_recipe(const py::object& recipe, const std::vector<std::string>& left_out,
                             const py::dict& overrides) {
  ConfigTable table = py::isinstance<py::dict>(recipe) ? config_of(recipe, "recipe")
                                                       : ConfigTable::read_toml(recipe.cast<std::string>());
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

struct Trained {
  struct Problem {
    std::string name, reason;
    learn::Best best;
  };
  std::vector<Problem> problems, held_out;
  bool finished = false;
  std::uint64_t updates = 0, evaluations = 0;
  double seconds = 0;
};

Trained train_recipe(const ConfigTable& config, bool resume, Meeting& meeting, bool ask) {
  // The process has one log file and one pool of threads for networks.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (meeting.stopped()) return {};
  std::optional<experiment::UnfinishedRun> begun = resume ? experiment::unfinished_run(config) : std::nullopt;
  experiment::Training training(experiment::make_recipe(begun ? begun->config : config),
                                begun && experiment::has_checkpoint(begun->folder.path()));
  const experiment::RunFolder folder =
      begun ? std::move(begun->folder)
            : experiment::RunFolder::create(training.recipe().options.run, training.recipe().resolved());
  const auto backend = experiment::make_training_backend(nullptr, training, folder);
  const auto end = training.run(folder, {.evaluator = *backend.evaluator,
                                         .learner_workers = nullptr,
                                         .resume = begun.has_value(),
                                         .show_progress = false,
                                         .stop = [&] { return meeting.stopped() || (ask && meeting.ask()); }});
  Trained done;
  done.finished = end == experiment::Training::End::finished;
  done.updates = training.updates();
  done.evaluations = training.evaluations();
  done.seconds = training.seconds();
  const auto add = [&](std::vector<Trained::Problem>& list, const Problem& problem, const learn::Best& best) {
    const std::string reason =
        best.any ? simulate::reason_of(training.objective(), problem, best.outcome, best.placement.device, {})
                 : "no update was about it";
    list.push_back({problem.name, reason, best});
  };
  for (std::size_t p = 0; p < training.best().size(); ++p)
    add(done.problems, training.problems()[p], training.best()[p]);
  for (std::size_t p = 0; p < training.held_out_best().size(); ++p)
    add(done.held_out, training.held_out()[p], training.held_out_best()[p]);
  return done;
}

py::list placements_of(const std::vector<Trained::Problem>& problems) {
  py::list list;
  for (const Trained::Problem& each : problems) {
    const Placement& placement = each.best.placement;
    list.append(py::make_tuple(each.name, to_array(placement.device),
                               placement.order.empty() ? py::object(py::none()) : to_array(placement.order),
                               each.best.outcome.makespan, each.best.any && each.best.outcome.feasible(), each.reason,
                               each.best.evaluation));
  }
  return list;
}

// `after_update` is called with the run folder, also before the first update; it returns true to end the training.
py::dict train(const py::object& recipe, const std::vector<std::string>& left_out, const py::dict& overrides,
               const std::string& default_run, bool resume, const std::optional<py::function>& after_update) {
  ConfigTable config = config_of_recipe(recipe, left_out, overrides);
  if (!config.contains("run")) config.set("run", {default_run, "default"});
  const std::string run = config.text("run");
  const bool ask = after_update.has_value();
  const Trained trained =
      work_and_wait([config, resume, ask](Meeting& meeting) { return train_recipe(config, resume, meeting, ask); },
                    training_patience, [&] { return (*after_update)(run).cast<bool>(); });
  py::dict result;
  result["problems"] = placements_of(trained.problems);
  result["held_out"] = placements_of(trained.held_out);
  result["run"] = run;
  result["finished"] = trained.finished;
  result["updates"] = trained.updates;
  result["evaluations"] = trained.evaluations;
  result["seconds"] = trained.seconds;
  return result;
}

}  // namespace

void add_train(py::module_& module) { module.def("train", train); }

}  // namespace emplace::python
