#include "presets.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace {

namespace {

bool is_family(std::string_view preset) { return preset.ends_with("xN"); }

// The preset that `name` belongs to: itself, or the family whose prefix is followed by digits; nullptr: none.
const PresetText* preset_of(std::string_view name) {
  for (const PresetText& preset : preset_texts()) {
    const std::string_view known = preset.name;
    if (!is_family(known)) {
      if (name == known) return &preset;
      continue;
    }
    const std::string_view prefix = known.substr(0, known.size() - 1);
    if (!name.starts_with(prefix)) continue;
    const std::string_view number = name.substr(prefix.size());
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    if (number == "N" || (!number.empty() && std::all_of(number.begin(), number.end(), digit))) return &preset;
  }
  return nullptr;
}

}  // namespace

bool is_preset(std::string_view name) { return preset_of(name) != nullptr; }

ConfigTable preset_table(const std::string& name, const std::string& place) {
  const PresetText* preset = preset_of(name);
  if (preset == nullptr) {
    std::vector<std::string> names;
    for (const MachineEntry& entry : machines()) names.push_back(entry.example);
    const std::string near = did_you_mean(name, names);
    throw InputError(place, "unknown machine {}: neither a preset nor a TOML file{}", quote(name),
                     near.empty() ? fmt::format("; presets: {}", join(entry_names(machines()), ", ")) : near);
  }
  ConfigTable table = ConfigTable::parse_toml(preset->toml, fmt::format("preset {}", name));
  if (!is_family(preset->name)) return table;

  const std::string digits = name.substr(std::string_view(preset->name).size() - 1);
  std::int64_t n = 0;
  if (!parse_number(digits, n) || n < 1 || n > largest_family_member || digits.front() == '0')
    throw InputError(place, "the N of machine {} must be a whole number from 1 to {}, got {}", quote(preset->name),
                     largest_family_member, quote(digits));
  table.set("name", {name, table.place_of("name")});
  ConfigValue devices = *table.find("device");
  for (ConfigTable& device : std::get<std::vector<ConfigTable>>(devices.data))
    if (const ConfigValue* count = device.find("count"))
      if (const auto* text = std::get_if<std::string>(&count->data); text != nullptr && *text == "N")
        device.set("count", {n, count->place});
  table.set("device", std::move(devices));
  return table;
}

}  // namespace emplace
