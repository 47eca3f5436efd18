#include "cell_json.hpp"

namespace emplace {

using nlohmann::json;

namespace {

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

template <class T>
std::optional<T> optional_at(const json& value, const char* key) {
  return value.at(key).is_null() ? std::nullopt : std::optional<T>(value.at(key).get<T>());
}

}  // namespace

json identity_of(const CellTask& task) {
  return {{"problem", task.problem},         {"machine", task.machine}, {"objective", task.objective},
          {"placement", task.placement},     {"method", task.method},   {"options", task.options},
          {"recipe", task.recipe},           {"seed", task.seed},       {"evaluations", or_null(task.evaluations)},
          {"seconds", or_null(task.seconds)}};
}

json to_json(const CellResult& result) {
  return {{"time_ps", or_null(result.time)},           {"feasible", result.feasible},
          {"short_of_memory", result.short_of_memory}, {"reason", result.reason},
          {"evaluations", result.evaluations},         {"seconds", result.seconds},
          {"lower_bound_ps", result.lower_bound}};
}

CellResult cell_result_from(const json& value) {
  CellResult result;
  result.time = optional_at<Ticks>(value, "time_ps");
  result.feasible = value.at("feasible");
  result.short_of_memory = value.at("short_of_memory");
  result.reason = value.at("reason");
  result.evaluations = value.at("evaluations");
  result.seconds = value.at("seconds");
  result.lower_bound = value.at("lower_bound_ps");
  return result;
}

std::string one_line(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string to_text(const CellTask& task) {
  json text = identity_of(task);
  text.update({{"id", task.id}, {"folder", task.folder}, {"seconds_left", or_null(task.seconds_left)}});
  return one_line(text);
}

CellTask cell_task_from(const std::string& text) {
  const json value = json::parse(text);
  CellTask task;
  task.id = value.at("id");
  task.folder = value.at("folder");
  task.problem = value.at("problem");
  task.machine = value.at("machine");
  task.objective = value.at("objective");
  task.method = value.at("method");
  task.placement = value.at("placement");
  task.options = value.at("options");
  task.recipe = value.at("recipe");
  task.seed = value.at("seed");
  task.evaluations = optional_at<std::uint64_t>(value, "evaluations");
  task.seconds = optional_at<double>(value, "seconds");
  task.seconds_left = optional_at<double>(value, "seconds_left");
  return task;
}

std::string to_text(const CellAnswer& answer) {
  return one_line({{"id", answer.id},
                   {"interrupted", answer.interrupted},
                   {"undone", answer.undone},
                   {"result", to_json(answer.result)}});
}

CellAnswer cell_answer_from(const std::string& text) {
  const json value = json::parse(text);
  return {value.at("id"), value.at("interrupted"), value.at("undone"), cell_result_from(value.at("result"))};
}

}  // namespace emplace
