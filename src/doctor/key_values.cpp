#include "doctor/key_values.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "experiment/recipe/recipe_keys.hpp"

namespace emplace::doctor {

namespace {

constexpr const char* doctor_place = "doctor";

const char* why_not(const std::string& key) {
  struct Reason {
    std::initializer_list<const char*> keys;
    const char* says;
  };
  static const Reason reasons[] = {
      {{"problem", "graph", "machine", "problems", "held_out", "shape", "init", "start", "op_types"},
       "names what is placed"},
      {{"pin", "forbid", "together", "max_cuts"}, "is a constraint of the task"},
      {{"policy", "learner", "evaluator"}, "names a method"},
  };
  for (const Reason& reason : reasons)
    for (const char* each : reason.keys)
      if (key == each) return reason.says;
  const Affects what = experiment::affects_of(key);
  if (what == Affects::budget) return "is the budget";
  return what == Affects::place ? "is the folder: each training has its own" : "";
}

template <class Number>
std::vector<ConfigValue> numbers(const std::vector<Number>& candidates, const Number* now) {
  std::vector<ConfigValue> values;
  std::set<Number> seen;
  for (const Number candidate : candidates)
    if ((now == nullptr || candidate != *now) && seen.insert(candidate).second)
      values.push_back({candidate, doctor_place});
  return values;
}

std::vector<ConfigValue> other_whole(const std::int64_t* now) {
  if (now == nullptr) return numbers<std::int64_t>({1, 2, 8}, now);
  return numbers<std::int64_t>({2 * *now, *now + 1, *now / 2, 1, 0}, now);
}

std::vector<ConfigValue> other_number(const double* now) {
  if (now == nullptr) return numbers<double>({0.5, 0.05, 5}, now);
  if (*now == 0) return numbers<double>({0.1, 1, 0.001}, now);
  return numbers<double>({*now / 2, 2 * *now, *now / 1000, 0}, now);  // the half first: shares must not exceed 1
}

}  // namespace

std::string why_not_tried(const std::string& key, const experiment::Recipe& recipe) {
  if (key.starts_with("roofline.") && std::ranges::none_of(recipe.sources(), source::is_graph_at_machine))
    return "is for graphs: the problem is a file";
  return why_not(key);
}

const ConfigValue* find_value(const ConfigTable& resolved, const std::string& key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos) return resolved.find(key);
  const ConfigValue* const table = resolved.find(key.substr(0, dot));
  if (table == nullptr) return nullptr;
  const auto* const tables = std::get_if<std::vector<ConfigTable>>(&table->data);
  return tables == nullptr || tables->empty() ? nullptr : tables->front().find(key.substr(dot + 1));
}

std::string text_of(const ConfigValue* value) {
  if (value == nullptr) return "none";
  if (const auto* text = std::get_if<std::string>(&value->data)) return *text;
  ConfigTable table;
  table.set("x", *value);
  const std::string toml = table.to_toml();  // "x = 0.5\n"
  return toml.substr(4, toml.find('\n') - 4);
}

std::vector<ConfigValue> other_values(const OptionInfo& option, const ConfigValue* now) {
  if (option.type == "bool") {
    const bool* const flag = now == nullptr ? nullptr : std::get_if<bool>(&now->data);
    return {{!(flag != nullptr && *flag), doctor_place}};
  }
  if (option.type == "int") return other_whole(now == nullptr ? nullptr : std::get_if<std::int64_t>(&now->data));
  if (option.type == "number") return other_number(now == nullptr ? nullptr : std::get_if<double>(&now->data));
  std::vector<ConfigValue> values;
  if (option.type == "text") {
    const std::string present = now == nullptr ? option.default_value : text_of(now);
    for (const std::string& choice : option.choices)
      if (choice != present) values.push_back({choice, doctor_place});
    return values;
  }
  // For a list: without its last element, or only one of the choices.
  const auto* const list = now == nullptr ? nullptr : std::get_if<ConfigList>(&now->data);
  if (list != nullptr && !list->empty()) values.push_back({ConfigList(list->begin(), list->end() - 1), doctor_place});
  for (const std::string& choice : option.choices)
    if (list == nullptr || list->size() != 1 || text_of(&list->front()) != choice)
      values.push_back({ConfigList{{choice, doctor_place}}, doctor_place});
  return values;
}

}  // namespace emplace::doctor
