#include "app/inspect_checkpoint.hpp"

#include <fmt/core.h>

#include <optional>

#include "app/result_json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "experiment/recipe/recipe.hpp"
#include "experiment/run/trained_policy.hpp"
#include "learn/trainer.hpp"

namespace emplace::app {

namespace {

std::uint64_t parameter_count(const State& arrays) {
  std::uint64_t count = 0;
  for (const auto& [path, array] : arrays)
    if (path.starts_with("policy/")) count += std::visit([](const auto& values) { return values.size(); }, array.data);
  return count;
}

std::string shape_text(const StateArray& array) {
  std::vector<std::string> sizes;
  for (const std::uint64_t size : array.shape) sizes.push_back(fmt::format("{}", size));
  return sizes.empty() ? "scalar" : join(sizes, "x");
}

// Policy, learner, problems and progress of the training.
Json training_json(const experiment::Recipe& recipe, const State& arrays) {
  const State trainer = arrays_under(arrays, "trainer/");
  const bool pipeline = recipe.options.objective == "pipeline";
  Json json = {{"policy", recipe.options.policy}, {"learner", recipe.options.learner}, {"problems", recipe.sources()}};
  json["devices"] = get_scalar<std::uint64_t>(arrays, experiment::device_count_array);
  json["updates"] = get_scalar<std::uint64_t>(trainer, "updates");
  json["evaluations"] = get_scalar<std::uint64_t>(trainer, "evaluations");
  json["best"] = Json::array();
  for (std::size_t p = 0; p < recipe.sources().size(); ++p) {
    const learn::Best best = learn::saved_best(trainer, p);
    json["best"].push_back(Json());
    if (!best.any) continue;
    const Outcome& outcome = best.outcome;
    const Json seconds = outcome.timed() ? Json(to_seconds(outcome.makespan)) : Json();
    json["best"].back() = {{"feasible", outcome.feasible()}, {"evaluation", best.evaluation}};
    if (!pipeline) json["best"].back()["makespan_ps"] = outcome.timed() ? Json(outcome.makespan) : Json();
    json["best"].back()[pipeline ? "load_s" : "makespan_s"] = seconds;
  }
  return json;
}

Json to_json(const std::optional<experiment::Recipe>& recipe, const experiment::Checkpoint& checkpoint,
             const std::string& status) {
  const State& arrays = checkpoint.arrays;
  Json json = {{"kind", status.empty() ? "checkpoint" : "run"}};
  if (!status.empty()) json["status"] = status;
  if (recipe) json.update(training_json(*recipe, arrays));
  json["parameters"] = parameter_count(arrays);
  json["attributes"] = checkpoint.attributes;
  json["arrays"] = Json::object();
  for (const auto& [path, array] : arrays) json["arrays"][path] = array.shape;
  return json;
}

std::string best_text(const learn::Best& best) {
  if (!best.any) return "nothing found";
  const Outcome& outcome = best.outcome;
  return fmt::format("best {}{}, evaluation {}", outcome.timed() ? human_seconds(to_seconds(outcome.makespan)) : "-",
                     outcome.feasible() ? "" : " (infeasible)", best.evaluation);
}

void print_training(const experiment::Recipe& recipe, const State& arrays) {
  const State trainer = arrays_under(arrays, "trainer/");
  fmt::print("policy {}, trained by {} for {} devices: {} updates, {} evaluations\n", recipe.options.policy,
             recipe.options.learner, get_scalar<std::uint64_t>(arrays, experiment::device_count_array),
             get_scalar<std::uint64_t>(trainer, "updates"), get_scalar<std::uint64_t>(trainer, "evaluations"));
  for (std::size_t p = 0; p < recipe.sources().size(); ++p)
    fmt::print("  {}: {}\n", printable(recipe.sources()[p]), best_text(learn::saved_best(trainer, p)));
}

void print(const std::optional<experiment::Recipe>& recipe, const experiment::Checkpoint& checkpoint,
           const std::string& status) {
  const State& arrays = checkpoint.arrays;
  if (!status.empty()) fmt::print("run folder, {}\n", printable(status));
  if (recipe) print_training(*recipe, arrays);
  for (const auto& [name, value] : checkpoint.attributes)
    if (value.find('\n') == std::string::npos) fmt::print("{}: {}\n", printable(name), printable(value));
  fmt::print("all digests and checksums are correct\n\n");
  TextTable parameters({"parameters of the policy", "shape"});
  TextTable rest({"other arrays", "shape"});
  for (const auto& [path, array] : arrays) {
    const bool of_policy = path.starts_with("policy/");
    (of_policy ? parameters : rest).add({printable(of_policy ? path.substr(7) : path), shape_text(array)});
  }
  fmt::print("{}{} in all\n\n{}", parameters.str(), parameter_count(arrays), rest.str());
}

}  // namespace

void inspect_checkpoint(const std::string& file, const experiment::Checkpoint& checkpoint, const std::string& status,
                        bool json) {
  std::optional<experiment::Recipe> recipe;
  try {
    recipe = experiment::recipe_of(checkpoint, file);
  } catch (const InputError& error) {  // perhaps a recipe of another version of the program
    log_warning("{}", error.what());
  }
  experiment::reading(file, [&] {
    if (json)
      print_json(to_json(recipe, checkpoint, status));
    else
      print(recipe, checkpoint, status);
  });
}

}  // namespace emplace::app
