#include "inspect_checkpoint.hpp"

#include <fmt/core.h>

#include <optional>

#include "emplace/base/text.hpp"
#include "emplace/problem/outcome.hpp"
#include "emplace/run/recipe.hpp"
#include "emplace/run/trained_policy.hpp"
#include "result_json.hpp"

namespace emplace::app {

namespace {

// Of one problem of the training, as Trainer::save() wrote it.
struct Found {
  Ticks time;
  bool timed, feasible;
  std::uint64_t evaluation;
};

std::optional<Found> best_of(const State& arrays, std::size_t problem) {
  const std::string at = fmt::format("trainer/best.{}.", problem);
  if (!arrays.contains(at + "outcome")) return std::nullopt;
  const auto& numbers = get<std::int64_t>(arrays, at + "outcome", 5);
  const Outcome outcome{numbers[0], numbers[1], static_cast<Infeasible>(numbers[2])};
  return Found{outcome.makespan, outcome.timed(), outcome.feasible(),
               get_scalar<std::uint64_t>(arrays, at + "evaluation")};
}

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

Json to_json(const Recipe& recipe, const Checkpoint& checkpoint, const std::string& status) {
  const State& arrays = checkpoint.arrays;
  const bool pipeline = recipe.options.objective == "pipeline";
  Json json = {{"kind", status.empty() ? "checkpoint" : "run"}};
  if (!status.empty()) json["status"] = status;
  json["policy"] = recipe.options.policy;
  json["learner"] = recipe.options.learner;
  json["problems"] = recipe.sources();
  json["devices"] = get_scalar<std::uint64_t>(arrays, device_count_array);
  json["updates"] = get_scalar<std::uint64_t>(arrays, "trainer/updates");
  json["evaluations"] = get_scalar<std::uint64_t>(arrays, "trainer/evaluations");
  json["best"] = Json::array();
  for (std::size_t p = 0; p < recipe.sources().size(); ++p) {
    const auto best = best_of(arrays, p);
    json["best"].push_back(Json());
    if (!best) continue;
    const Json seconds = best->timed ? Json(to_seconds(best->time)) : Json();
    json["best"].back() = {{"feasible", best->feasible}, {"evaluation", best->evaluation}};
    if (!pipeline) json["best"].back()["makespan_ps"] = best->timed ? Json(best->time) : Json();
    json["best"].back()[pipeline ? "load_s" : "makespan_s"] = seconds;
  }
  json["parameters"] = parameter_count(arrays);
  json["attributes"] = checkpoint.attributes;
  json["arrays"] = Json::object();
  for (const auto& [path, array] : arrays) json["arrays"][path] = array.shape;
  return json;
}

void print(const Recipe& recipe, const Checkpoint& checkpoint, const std::string& status) {
  const State& arrays = checkpoint.arrays;
  if (!status.empty()) fmt::print("run folder, {}\n", status);
  fmt::print("policy {}, trained by {} for {} devices: {} updates, {} evaluations\n", recipe.options.policy,
             recipe.options.learner, get_scalar<std::uint64_t>(arrays, device_count_array),
             get_scalar<std::uint64_t>(arrays, "trainer/updates"),
             get_scalar<std::uint64_t>(arrays, "trainer/evaluations"));
  for (std::size_t p = 0; p < recipe.sources().size(); ++p) {
    const auto best = best_of(arrays, p);
    fmt::print("  {}: {}\n", recipe.sources()[p],
               !best
                   ? "nothing found"
                   : fmt::format("best {}{}, evaluation {}", best->timed ? human_seconds(to_seconds(best->time)) : "-",
                                 best->feasible ? "" : " (infeasible)", best->evaluation));
  }
  for (const auto& [name, value] : checkpoint.attributes)
    if (value.find('\n') == std::string::npos) fmt::print("{}: {}\n", name, value);
  fmt::print("its digests and checksums are right\n\n");
  TextTable parameters({"parameters of the policy", "shape"});
  TextTable rest({"other arrays", "shape"});
  for (const auto& [path, array] : arrays) {
    const bool of_policy = path.starts_with("policy/");
    (of_policy ? parameters : rest).add({of_policy ? path.substr(7) : path, shape_text(array)});
  }
  fmt::print("{}{} in all\n\n{}", parameters.str(), parameter_count(arrays), rest.str());
}

}  // namespace

void inspect_checkpoint(const std::string& file, const Checkpoint& checkpoint, const std::string& status, bool json) {
  const Recipe recipe = recipe_of(checkpoint, file);
  if (json)
    print_json(to_json(recipe, checkpoint, status));
  else
    print(recipe, checkpoint, status);
}

}  // namespace emplace::app
