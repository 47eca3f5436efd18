#include "experiment/tables/cell_json.hpp"

#include <cctype>
#include <filesystem>

namespace emplace::experiment {

using nlohmann::json;

namespace {

// Calls visit(key, member) for each field; used for reading and for writing.
template <class Task, class Visit>
void identity_fields(Task& task, const Visit& visit) {
  visit("problem", task.problem);
  visit("machine", task.machine);
  visit("contents", task.contents);
  visit("objective", task.objective);
  visit("placement", task.placement);
  visit("policy", task.policy);
  visit("method", task.method);
  visit("options", task.options);
  visit("recipe", task.recipe);
  visit("seed", task.seed);
  visit("evaluations", task.evaluations);
  visit("seconds", task.seconds);
}
template <class Task, class Visit>
void fields(Task& task, const Visit& visit) requires std::is_same_v<std::remove_const_t<Task>, CellTask> {
  identity_fields(task, visit);
  visit("id", task.id);
  visit("folder", task.folder);
  visit("seconds_left", task.seconds_left);
}
template <class Result, class Visit>
void fields(Result& result, const Visit& visit) requires std::is_same_v<std::remove_const_t<Result>, CellResult> {
  visit("time_ps", result.time);
  visit("feasible", result.feasible);
  visit("short_of_memory", result.short_of_memory);
  visit("reason", result.reason);
  visit("evaluations", result.evaluations);
  visit("seconds", result.seconds);
}

class CellWriter {
 public:
  explicit CellWriter(json& to) : to_(to) {}
  template <class T>
  void operator()(const char* key, const T& value) const {
    to_[key] = value;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const {
    to_[key] = value ? json(*value) : json(nullptr);
  }

 private:
  json& to_;
};

// Throws json::exception if a field is missing or of another type.
class CellReader {
 public:
  explicit CellReader(const json& from) : from_(from) {}
  template <class T>
  void operator()(const char* key, T& value) const {
    from_.at(key).get_to(value);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& value) const {
    const json& found = from_.at(key);
    value = found.is_null() ? std::nullopt : std::optional<T>(found.get<T>());
  }

 private:
  const json& from_;
};

// Bytes that are not UTF-8 are replaced.
std::string one_line(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::string without_folder(const std::string& text, const std::string& folder) {
  std::string result = text;
  for (const std::string& path : {std::filesystem::absolute(folder).lexically_normal().string() + "/", folder + "/"}) {
    const auto begins_path = [&](std::size_t at) {
      return at == 0 || (std::isalnum(static_cast<unsigned char>(result[at - 1])) == 0 &&
                         std::string_view("/._-").find(result[at - 1]) == std::string_view::npos);
    };
    for (std::size_t at = 0; (at = result.find(path, at)) != std::string::npos;)
      if (begins_path(at))
        result.erase(at, path.size());
      else
        ++at;
  }
  return result;
}

json identity_of(const CellTask& task) {
  json value;
  CellTask here = task;
  for (std::string* text : {&here.problem, &here.placement, &here.policy, &here.recipe})
    *text = without_folder(*text, task.folder);
  identity_fields(here, CellWriter(value));
  return value;
}

json to_json(const CellResult& result) {
  json value;
  fields(result, CellWriter(value));
  return value;
}

CellResult cell_result_from(const json& value) {
  CellResult result;
  fields(result, CellReader(value));
  return result;
}

std::string to_text(const CellTask& task) {
  json value;
  fields(task, CellWriter(value));
  return one_line(value);
}

CellTask cell_task_from(const std::string& text) {
  const json value = json::parse(text);
  CellTask task;
  fields(task, CellReader(value));
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

}  // namespace emplace::experiment
