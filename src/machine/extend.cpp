// `extends`: merges a machine file with a preset.
#include <algorithm>

#include "emplace/base/error.hpp"
#include "machine/presets.hpp"

namespace emplace::machine {

namespace {

// The name of a topology without a name is its kind.
std::string entry_name(const ConfigTable& entry) {
  for (const char* key : {"name", "kind"})
    if (const ConfigValue* value = entry.find(key))
      if (const auto* text = std::get_if<std::string>(&value->data)) return *text;
  return {};
}

ConfigTable merged_keys(ConfigTable base, const ConfigTable& over) {
  for (const std::string& key : over.keys()) {
    ConfigValue value = *over.find(key);
    const ConfigValue* present = base.find(key);
    auto* inner = std::get_if<std::vector<ConfigTable>>(&value.data);
    // Tables such as peak_flops and efficiency are merged key by key.
    if (inner != nullptr && !value.is_table_list && present != nullptr && !present->is_table_list)
      if (const auto* below = std::get_if<std::vector<ConfigTable>>(&present->data))
        inner->front() = merged_keys(below->front(), inner->front());
    base.set(key, std::move(value));
  }
  // Either of the two keys for the memory size replaces the other.
  if (over.contains("memory")) base.erase("memory_bytes");
  if (over.contains("memory_bytes")) base.erase("memory");
  return base;
}

std::vector<ConfigTable> merged_lists(std::vector<ConfigTable> base, const std::vector<ConfigTable>& over) {
  const std::size_t inherited = base.size();
  for (const ConfigTable& entry : over) {
    const std::string name = entry_name(entry);
    const auto end = base.begin() + static_cast<std::ptrdiff_t>(inherited);
    const auto same = std::find_if(base.begin(), end, [&](const auto& old) { return entry_name(old) == name; });
    if (name.empty() || same == end)
      base.push_back(entry);
    else
      *same = merged_keys(std::move(*same), entry);
  }
  return base;
}

}  // namespace

ConfigTable with_base(ConfigTable table) {
  if (!table.contains("extends")) return table;
  const std::string base = table.text("extends"), place = table.place_of("extends");
  table.erase("extends");
  return extended(preset_table(base, place), table);
}

ConfigTable extended(ConfigTable base, const ConfigTable& over) {
  for (const std::string& key : over.keys()) {
    ConfigValue value = *over.find(key);
    const ConfigValue* present = base.find(key);
    if (value.is_table_list && present != nullptr && present->is_table_list)
      value.data = merged_lists(std::get<std::vector<ConfigTable>>(present->data),
                                std::get<std::vector<ConfigTable>>(value.data));
    base.set(key, std::move(value));
  }
  return base;
}

}  // namespace emplace::machine
