#include "emplace/base/config.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

ConfigTable::ConfigTable() = default;
ConfigTable::ConfigTable(std::string place) : place_(std::move(place)) {}
ConfigTable::ConfigTable(const ConfigTable&) = default;
ConfigTable::ConfigTable(ConfigTable&&) noexcept = default;
ConfigTable& ConfigTable::operator=(const ConfigTable&) = default;
ConfigTable& ConfigTable::operator=(ConfigTable&&) noexcept = default;
ConfigTable::~ConfigTable() = default;

const char* ConfigValue::type_name() const {
  constexpr const char* names[] = {"a truth value", "a whole number", "a number", "a text", "a list", "a table"};
  if (data.index() == 5 && is_table_list) return "a list of tables";
  return names[data.index()];
}

const ConfigValue* ConfigTable::find(std::string_view key) const {
  for (const auto& [name, value] : values_)
    if (name == key) return &value;
  return nullptr;
}

std::vector<std::string> ConfigTable::keys() const {
  std::vector<std::string> out;
  for (const auto& [name, value] : values_) out.push_back(name);
  return out;
}

void ConfigTable::set(const std::string& key, ConfigValue value) {
  for (auto& [name, present] : values_)
    if (name == key) {
      present = std::move(value);
      return;
    }
  values_.emplace_back(key, std::move(value));
}

void ConfigTable::erase(std::string_view key) {
  std::erase_if(values_, [&](const auto& entry) { return entry.first == key; });
}

void ConfigTable::set_path(std::string_view dotted, ConfigValue value) {
  const std::size_t dot = dotted.find('.');
  const std::string head(dotted.substr(0, dot));
  if (head.empty()) throw InputError(value.place, "a key is empty in {}", quote(dotted));
  if (dot == std::string_view::npos) {
    set(head, std::move(value));
    return;
  }
  if (!contains(head)) set(head, {std::vector{ConfigTable(value.place)}, value.place});
  for (auto& [name, present] : values_) {
    if (name != head) continue;
    auto* tables = std::get_if<std::vector<ConfigTable>>(&present.data);
    if (tables == nullptr || present.is_table_list)
      throw InputError(value.place, "{} is {}, so {} cannot be set inside it", quote(head), present.type_name(),
                       quote(dotted));
    tables->front().set_path(dotted.substr(dot + 1), std::move(value));
    return;
  }
}

namespace {
[[noreturn]] void wrong_type(const ConfigValue& value, std::string_view key, const char* wanted) {
  std::string found = value.type_name();
  if (const auto* text = std::get_if<std::string>(&value.data)) found = fmt::format("the text {}", quote(*text));
  throw InputError(value.place, "{} must be {}, found {}", quote(key), wanted, found);
}

// A long run reads its options again and again, at each checkpoint: a key is noted once.
void note(std::vector<std::string>& read, std::string_view key) {
  if (std::ranges::find(read, key) == read.end()) read.emplace_back(key);
}

}  // namespace

std::int64_t as_whole(const ConfigValue& value, std::string_view key) {
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return *whole;
  if (const auto* number = std::get_if<double>(&value.data))
    if (std::nearbyint(*number) == *number && std::abs(*number) <= 0x1p53) return static_cast<std::int64_t>(*number);
  wrong_type(value, key, "a whole number");
}

double as_number(const ConfigValue& value, std::string_view key) {
  if (const auto* number = std::get_if<double>(&value.data)) {
    if (!std::isfinite(*number)) throw InputError(value.place, "{} must be finite, found {}", quote(key), *number);
    return *number;
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*whole);
  wrong_type(value, key, "a number");
}

bool as_flag(const ConfigValue& value, std::string_view key) {
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag;
  wrong_type(value, key, "true or false");
}

std::string as_text(const ConfigValue& value, std::string_view key) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  wrong_type(value, key, "a text");
}

std::vector<std::string> as_texts(const ConfigValue& value, std::string_view key) {
  const auto* list = std::get_if<ConfigList>(&value.data);
  if (list == nullptr) wrong_type(value, key, "a list of texts");
  std::vector<std::string> out;
  for (const ConfigValue& element : *list) out.push_back(as_text(element, key));
  return out;
}

const ConfigValue& ConfigTable::need(std::string_view key) const {
  note(read_, key);
  if (const ConfigValue* value = find(key)) return *value;
  const auto present = keys();
  throw InputError(place_, "key {} is missing{}", quote(key), did_you_mean(key, present));
}

std::string ConfigTable::text(std::string_view key) const { return as_text(need(key), key); }
double ConfigTable::number(std::string_view key) const { return as_number(need(key), key); }

std::string ConfigTable::text(std::string_view key, std::string fallback) const {
  note(read_, key);
  const ConfigValue* value = find(key);
  return value ? as_text(*value, key) : std::move(fallback);
}
double ConfigTable::number(std::string_view key, double fallback) const {
  note(read_, key);
  const ConfigValue* value = find(key);
  return value ? as_number(*value, key) : fallback;
}
std::int64_t ConfigTable::whole(std::string_view key, std::int64_t fallback) const {
  note(read_, key);
  const ConfigValue* value = find(key);
  return value ? as_whole(*value, key) : fallback;
}
bool ConfigTable::flag(std::string_view key, bool fallback) const {
  note(read_, key);
  const ConfigValue* value = find(key);
  return value ? as_flag(*value, key) : fallback;
}
std::vector<std::string> ConfigTable::texts(std::string_view key) const {
  note(read_, key);
  const ConfigValue* value = find(key);
  return value ? as_texts(*value, key) : std::vector<std::string>{};
}

const ConfigTable& ConfigTable::table(std::string_view key) const {
  static const ConfigTable nothing;
  note(read_, key);
  const ConfigValue* value = find(key);
  if (value == nullptr) return nothing;
  const auto* tables = std::get_if<std::vector<ConfigTable>>(&value->data);
  if (tables == nullptr || value->is_table_list) wrong_type(*value, key, "a table");
  return tables->front();
}

const std::vector<ConfigTable>& ConfigTable::tables(std::string_view key) const {
  static const std::vector<ConfigTable> nothing;
  note(read_, key);
  const ConfigValue* value = find(key);
  if (value == nullptr) return nothing;
  const auto* tables = std::get_if<std::vector<ConfigTable>>(&value->data);
  if (tables == nullptr || !value->is_table_list) wrong_type(*value, key, "a list of tables, [[...]]");
  return *tables;
}

std::string ConfigTable::place_of(std::string_view key) const {
  const ConfigValue* value = find(key);
  return value ? value->place : place_;
}

void ConfigTable::refuse_unread(const std::vector<std::string>& known) const {
  for (const auto& [name, value] : values_) {
    if (std::find(read_.begin(), read_.end(), name) != read_.end()) continue;
    std::vector<std::string> candidates = known;
    candidates.insert(candidates.end(), read_.begin(), read_.end());
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    const std::string near = did_you_mean(name, candidates);
    throw InputError(
        value.place, "unknown key {}{}", quote(name),
        near.empty() && !candidates.empty() ? fmt::format("; known keys: {}", join(candidates, ", ")) : near);
  }
}

ConfigTable ConfigTable::read_toml(const std::string& path) {
  constexpr std::uint64_t largest = 16u << 20;
  return parse_toml(read_file(path, largest), path);
}

bool operator==(const ConfigValue& a, const ConfigValue& b) {
  const auto* const whole_a = std::get_if<std::int64_t>(&a.data);
  const auto* const whole_b = std::get_if<std::int64_t>(&b.data);
  const auto* const number_a = std::get_if<double>(&a.data);
  const auto* const number_b = std::get_if<double>(&b.data);
  // For an option that takes a number, 1 and 1.0 are equal.
  if (whole_a != nullptr && number_b != nullptr) return static_cast<double>(*whole_a) == *number_b;
  if (number_a != nullptr && whole_b != nullptr) return *number_a == static_cast<double>(*whole_b);
  return a.data == b.data;
}

bool operator==(const ConfigTable& a, const ConfigTable& b) {
  return a.values_.size() == b.values_.size() && std::ranges::all_of(a.values_, [&](const auto& entry) {
           const ConfigValue* const other = b.find(entry.first);
           return other != nullptr && *other == entry.second;
         });
}

}  // namespace emplace
