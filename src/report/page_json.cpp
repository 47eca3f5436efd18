#include "report/page_json.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <filesystem>

#include "base/text.hpp"
#include "report/names.hpp"
#include "report/page.hpp"

namespace emplace::report {

namespace {

std::string text_of(const ConfigValue& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  if (const auto* list = std::get_if<ConfigList>(&value.data)) {
    std::vector<std::string> parts;
    for (const ConfigValue& each : *list) parts.push_back(text_of(each));
    return join(parts, ", ");
  }
  ConfigTable line;
  line.set("v", value);
  const std::string toml = line.to_toml();  // "v = ...\n"
  return toml.substr(4, toml.size() - 5);
}

}  // namespace

std::string page_data(const Json& object) { return object.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json page_number(double value) {
  double rounded = 0;
  if (!parse_number(fmt::format("{:.6g}", value), rounded)) return nullptr;
  return rounded;
}

Json page_numbers(std::span<const double> values) {
  Json list = Json::array();
  for (const double value : values) list.push_back(page_number(value));
  return list;
}

Json settings(const ConfigTable& table, std::span<const char* const> keys) {
  Json list = Json::array();
  for (const char* key : keys)
    if (const ConfigValue* value = table.find(key)) list.push_back({key, page_text(text_of(*value), 300)});
  return list;
}

std::span<const char* const> recipe_summary_keys() {
  static constexpr std::array keys = {"graph",       "machine",   "problem",  "problems",  "policy",
                                      "learner",     "evaluator", "grouping", "objective", "updates",
                                      "evaluations", "seconds",   "seed"};
  return keys;
}

Json command(std::string says, const std::vector<std::string>& words) {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back(shell_word(word));
  return {{"says", std::move(says)}, {"command", page_text(join(quoted, " "))}};
}

std::string name_of_folder(const std::string& path) {
  std::filesystem::path folder = std::filesystem::path(path).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();
  const std::string name = folder.filename().string();
  if (!name.empty() && name != "." && name != "..") return name;
  std::error_code unknown;
  const std::filesystem::path full = std::filesystem::weakly_canonical(path, unknown);
  return unknown ? path : full.filename().string();
}

}  // namespace emplace::report
