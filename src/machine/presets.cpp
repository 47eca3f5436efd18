#include "machine/presets.hpp"
#include "base/text.hpp"

#include <fmt/core.h>

#include <map>
#include <optional>

#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"
#include "machine/drawn.hpp"

namespace emplace::machine {

namespace {

constexpr std::string_view placeholders = "NHG";

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_placeholder(char c) { return placeholders.find(c) != std::string_view::npos; }

// The texts in `name` at the places of the capital letters of the family `known`; nothing if `name` is not of this
// family. The text may be the letter itself, so that the error for "k40xN" can state the values of N.
std::optional<std::map<char, std::string>> numbers_in(std::string_view known, std::string_view name) {
  std::map<char, std::string> numbers;
  std::size_t at = 0;
  for (const char c : known) {
    if (!is_placeholder(c)) {
      if (at == name.size() || name[at] != c) return std::nullopt;
      ++at;
      continue;
    }
    const std::size_t begin = at;
    if (at < name.size() && name[at] == c)
      ++at;
    else
      while (at < name.size() && is_digit(name[at])) ++at;
    if (at == begin) return std::nullopt;
    numbers[c] = name.substr(begin, at - begin);
  }
  if (at != name.size()) return std::nullopt;
  return numbers;
}

struct Found {
  const PresetText* preset = nullptr;   // nullptr: none
  std::map<char, std::string> numbers;  // for a family, by letter
};

Found preset_of(std::string_view name) {
  for (const PresetText& preset : preset_texts())
    if (auto numbers = numbers_in(preset.name, name)) return {&preset, std::move(*numbers)};
  return {};
}

// Replaces the letters in the family's text by the numbers: `count = "N"`.
void fill_in(ConfigTable& table, const std::map<char, std::int64_t>& numbers) {
  for (const std::string& key : table.keys()) {
    ConfigValue value = *table.find(key);
    if (auto* inner = std::get_if<std::vector<ConfigTable>>(&value.data)) {
      for (ConfigTable& entry : *inner) fill_in(entry, numbers);
    } else if (const auto* text = std::get_if<std::string>(&value.data); text != nullptr && text->size() == 1) {
      const auto number = numbers.find(text->front());
      if (number == numbers.end()) continue;
      value.data = number->second;
    } else {
      continue;
    }
    table.set(key, std::move(value));
  }
}

}  // namespace

bool is_preset(std::string_view name) { return is_drawn(name) || preset_of(name).preset != nullptr; }

ConfigTable preset_table(const std::string& name, const std::string& place) {
  if (is_drawn(name)) return ConfigTable::parse_toml(drawn_machine_toml(name, place), fmt::format("machine {}", name));
  const Found found = preset_of(name);
  if (found.preset == nullptr) {
    std::vector<std::string> names;
    for (const MachineEntry& entry : machines()) names.push_back(entry.example);
    const std::string near = did_you_mean(name, names);
    throw InputError(place, "unknown machine {}: neither a preset nor a TOML file{}", quote(name),
                     near.empty() ? fmt::format("; presets: {}", join(entry_names(machines()), ", ")) : near);
  }
  ConfigTable table = with_base(ConfigTable::parse_toml(found.preset->toml, fmt::format("preset {}", name)));
  if (found.numbers.empty()) return table;

  std::map<char, std::int64_t> numbers;
  for (const auto& [letter, digits] : found.numbers) {
    std::int64_t& n = numbers[letter];
    if (!parse_number(digits, n) || n < 1 || n > largest_family_member || digits.front() == '0')
      throw InputError(place, "the {} of machine {} must be a whole number from 1 to {}, got {}", letter,
                       quote(found.preset->name), largest_family_member, quote(digits));
  }
  fill_in(table, numbers);
  table.set("name", {name, table.place_of("name")});
  return table;
}

}  // namespace emplace::machine
