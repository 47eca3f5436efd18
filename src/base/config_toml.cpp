// Converts TOML text to a ConfigTable and back. No other file uses toml++.
#define TOML_MAX_NESTED_VALUES 64
#include <fmt/core.h>
#include <toml++/toml.h>

#include <cmath>

#include "base/text.hpp"
#include "emplace/base/config.hpp"
#include "emplace/base/error.hpp"

namespace emplace {

namespace {

ConfigTable convert_table(const toml::table& table, const std::string& file, const std::string& place);

std::string place_of(const toml::node& node, const std::string& file) {
  const auto line = node.source().begin.line;
  return line == 0 ? file : fmt::format("{}:{}", file, line);
}

ConfigValue convert(const toml::node& node, const std::string& file) {
  const std::string place = place_of(node, file);
  if (const auto* flag = node.as_boolean()) return {flag->get(), place};
  if (const auto* whole = node.as_integer()) return {whole->get(), place};
  if (const auto* number = node.as_floating_point()) return {number->get(), place};
  if (const auto* text = node.as_string()) return {text->get(), place};
  if (const auto* table = node.as_table()) return {std::vector{convert_table(*table, file, place)}, place};
  if (const auto* array = node.as_array()) {
    // `[[name]]` and `name = [{...}]` are the same list of tables.
    if (!array->empty() && array->is_homogeneous(toml::node_type::table)) {
      std::vector<ConfigTable> tables;
      for (const auto& element : *array)
        tables.push_back(convert_table(*element.as_table(), file, place_of(element, file)));
      return {std::move(tables), place, true};
    }
    ConfigList list;
    for (const auto& element : *array) list.push_back(convert(element, file));
    return {std::move(list), place};
  }
  throw InputError(place, "dates and times have no meaning here");
}

ConfigTable convert_table(const toml::table& table, const std::string& file, const std::string& place) {
  // toml++ sorts the keys; this restores the order of the text, in which users expect to see them again.
  std::vector<std::pair<const toml::key*, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(&key, &node);
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    const auto& x = a.first->source().begin;
    const auto& y = b.first->source().begin;
    return std::pair(x.line, x.column) < std::pair(y.line, y.column);
  });
  ConfigTable out(place);
  for (const auto& [key, node] : entries) out.set(std::string(key->str()), convert(*node, file));
  return out;
}

// Writes a basic string ("text"), as the recipes do; toml++ would write literal strings ('text') where it can.
void write_text(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\u{:04x}", byte);
    else
      out += c;
  }
  out += '"';
}

void write_key(std::string& out, const std::string& key) {
  const bool bare =
      !key.empty() &&
      key.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string::npos;
  if (bare) {
    out += key;
    return;
  }
  write_text(out, key);
}

void write_value(std::string& out, const ConfigValue& value);

void write_inline_table(std::string& out, const ConfigTable& table) {
  out += "{";
  bool first = true;
  for (const std::string& key : table.keys()) {
    out += first ? " " : ", ";
    first = false;
    write_key(out, key);
    out += " = ";
    write_value(out, *table.find(key));
  }
  out += " }";
}

void write_value(std::string& out, const ConfigValue& value) {
  if (const auto* flag = std::get_if<bool>(&value.data)) {
    out += *flag ? "true" : "false";
  } else if (const auto* whole = std::get_if<std::int64_t>(&value.data)) {
    out += fmt::format("{}", *whole);
  } else if (const auto* number = std::get_if<double>(&value.data)) {
    std::string text = fmt::format("{}", *number);  // shortest text that reads back to the same bits
    if (std::isfinite(*number) && text.find_first_of(".e") == std::string::npos) text += ".0";
    out += text;
  } else if (const auto* text = std::get_if<std::string>(&value.data)) {
    write_text(out, *text);
  } else if (const auto* list = std::get_if<ConfigList>(&value.data)) {
    out += "[";
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i > 0) out += ", ";
      write_value(out, (*list)[i]);
    }
    out += "]";
  } else {
    const auto& tables = std::get<std::vector<ConfigTable>>(value.data);
    if (!value.is_table_list) {
      write_inline_table(out, tables.front());
      return;
    }
    out += "[";
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (i > 0) out += ", ";
      write_inline_table(out, tables[i]);
    }
    out += "]";
  }
}

}  // namespace

ConfigTable ConfigTable::parse_toml(std::string_view text, const std::string& file) {
  constexpr std::size_t largest = 16u << 20;
  if (text.size() > largest) throw InputError(file, "{} bytes of TOML, at most {} are read", text.size(), largest);
  try {
    return convert_table(toml::parse(text), file, file);
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    throw InputError(fmt::format("{}:{}:{}", file, at.line, at.column), "not valid TOML: {}", error.description());
  }
}

ConfigValue ConfigTable::parse_value(std::string_view text, const std::string& place) {
  try {
    const toml::table parsed = toml::parse("value = " + std::string(text));
    if (parsed.size() == 1) {
      ConfigTable table = convert_table(parsed, place, place);
      ConfigValue value = *table.find("value");
      value.place = place;
      return value;
    }
  } catch (const toml::parse_error&) {  // plain text, as people type it
  }
  return {std::string(text), place};
}

std::string ConfigValue::to_toml() const {
  std::string out;
  write_value(out, *this);
  return out;
}

std::string ConfigTable::to_toml() const {
  std::string out;
  std::string tables;
  for (const auto& [key, value] : values_) {
    const auto* nested = std::get_if<std::vector<ConfigTable>>(&value.data);
    if (nested != nullptr && !value.is_table_list) {
      tables += "\n[";
      write_key(tables, key);
      tables += "]\n";
      for (const std::string& inner : nested->front().keys()) {
        write_key(tables, inner);
        tables += " = ";
        write_value(tables, *nested->front().find(inner));
        tables += '\n';
      }
    } else {
      write_key(out, key);
      out += " = ";
      write_value(out, value);
      out += '\n';
    }
  }
  return out + tables;
}

}  // namespace emplace
