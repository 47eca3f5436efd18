#include "emplace/base/options.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

namespace {

bool within_bounds(double value, const OptionMeta& meta) {
  const bool low = meta.min && (meta.above_min ? value <= *meta.min : value < *meta.min);
  const bool high = meta.max && value > *meta.max;
  return !low && !high;
}

// A default outside the bounds means "none" and is shown as an empty text.
template <class Number>
std::string default_text(Number value, const OptionMeta& meta) {
  return within_bounds(static_cast<double>(value), meta) ? fmt::format("{}", value) : "";
}

void check_bounds(double value, const char* name, const OptionMeta& meta, const std::string& place) {
  if (within_bounds(value, meta)) return;
  std::string wanted;
  if (meta.min) wanted += fmt::format("{} {}", meta.above_min ? "above" : "at least", *meta.min);
  if (meta.max) wanted += fmt::format("{}at most {}", wanted.empty() ? "" : " and ", *meta.max);
  throw InputError(place, "'{}' must be {}, found {}", name, wanted, value);
}

void check_choice(const std::string& value, const char* name, const OptionMeta& meta, const std::string& place) {
  if (meta.choices.empty() || std::find(meta.choices.begin(), meta.choices.end(), value) != meta.choices.end()) return;
  throw InputError(place, "'{}' must be one of {}, found {}{}", name, join(meta.choices, ", "), quote(value),
                   did_you_mean(value, meta.choices));
}

std::string list_text(const std::vector<std::string>& values) { return fmt::format("[{}]", join(values, ", ")); }

}  // namespace

void OptionReader::operator()(const char* name, bool& value, const OptionMeta&) {
  names_.emplace_back(name);
  value = table_.flag(name, value);
}

void OptionReader::operator()(const char* name, std::int64_t& value, const OptionMeta& meta) {
  names_.emplace_back(name);
  value = table_.whole(name, value);
  if (table_.contains(name)) check_bounds(static_cast<double>(value), name, meta, table_.place_of(name));
}

void OptionReader::operator()(const char* name, double& value, const OptionMeta& meta) {
  names_.emplace_back(name);
  value = table_.number(name, value);
  if (table_.contains(name)) check_bounds(value, name, meta, table_.place_of(name));
}

void OptionReader::operator()(const char* name, std::string& value, const OptionMeta& meta) {
  names_.emplace_back(name);
  value = table_.text(name, value);
  if (table_.contains(name)) check_choice(value, name, meta, table_.place_of(name));
}

void OptionReader::operator()(const char* name, std::vector<std::string>& value, const OptionMeta& meta) {
  names_.emplace_back(name);
  if (!table_.contains(name)) return;
  value = table_.texts(name);
  for (const std::string& element : value) check_choice(element, name, meta, table_.place_of(name));
}

void OptionLister::operator()(const char* name, bool& value, const OptionMeta& meta) {
  options.push_back({name, "bool", value ? "true" : "false", meta.help, meta.unit, {}, meta.affects, meta.only_with});
}
void OptionLister::operator()(const char* name, std::int64_t& value, const OptionMeta& meta) {
  options.push_back({name, "int", default_text(value, meta), meta.help, meta.unit, {}, meta.affects, meta.only_with});
}
void OptionLister::operator()(const char* name, double& value, const OptionMeta& meta) {
  options.push_back(
      {name, "number", default_text(value, meta), meta.help, meta.unit, {}, meta.affects, meta.only_with});
}
void OptionLister::operator()(const char* name, std::string& value, const OptionMeta& meta) {
  options.push_back({name, "text", value, meta.help, meta.unit, meta.choices, meta.affects, meta.only_with});
}
void OptionLister::operator()(const char* name, std::vector<std::string>& value, const OptionMeta& meta) {
  options.push_back(
      {name, "list of texts", list_text(value), meta.help, meta.unit, meta.choices, meta.affects, meta.only_with});
}

void OptionEcho::operator()(const char* name, bool& value, const OptionMeta&) { table_.set(name, {value, "echo"}); }
void OptionEcho::operator()(const char* name, std::int64_t& value, const OptionMeta& meta) {
  if (within_bounds(static_cast<double>(value), meta)) table_.set(name, {value, "echo"});
}
void OptionEcho::operator()(const char* name, double& value, const OptionMeta& meta) {
  if (within_bounds(value, meta)) table_.set(name, {value, "echo"});
}
void OptionEcho::operator()(const char* name, std::string& value, const OptionMeta&) {
  table_.set(name, {value, "echo"});
}
void OptionEcho::operator()(const char* name, std::vector<std::string>& value, const OptionMeta&) {
  ConfigList list;
  for (const std::string& element : value) list.push_back({element, "echo"});
  table_.set(name, {std::move(list), "echo"});
}

}  // namespace emplace
