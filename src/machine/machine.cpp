// Reads a whole machine file.
#include "emplace/machine/machine.hpp"

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "machine/parts.hpp"
#include "machine/presets.hpp"

namespace emplace::machine {

Machine machine_from(const ConfigTable& described) {
  const ConfigTable table = with_hosts(described);
  MachineDraft draft;
  draft.machine.name = checked_name(table, "name", "machine");
  for (const ConfigTable& device : table.tables("device")) draft.add_devices(device);
  draft.close_devices(table.place());
  for (const ConfigTable& channel : table.tables("channel")) add_channel(draft, channel);
  for (const ConfigTable& topology : table.tables("topology")) add_topology(draft, topology);
  for (const ConfigTable& route : table.tables("route")) add_routes(draft, route);
  table.refuse_unread({"extends"});
  draft.refuse_idle_channels();
  return std::move(draft.machine);
}

namespace {

// If a file that extends a preset conflicts with a line of the preset, the message still begins with the file's name.
Machine machine_of_file(const ConfigTable& table, const std::string& file) {
  try {
    return machine_from(with_base(table));
  } catch (const InputError& error) {
    if (std::string_view(error.what()).starts_with(file)) throw;
    throw InputError(file, "{}", error.what());
  }
}

}  // namespace

Machine parse_machine(std::string_view toml, const std::string& file) {
  return machine_of_file(ConfigTable::parse_toml(toml, file), file);
}

Machine load_machine(const std::string& name_or_path, const std::string& place) {
  if (is_preset(name_or_path)) return machine_from(preset_table(name_or_path, place));
  const bool path = name_or_path.ends_with(".toml") || name_or_path.find('/') != std::string::npos;
  if (path || file_exists(name_or_path)) return machine_of_file(ConfigTable::read_toml(name_or_path), name_or_path);
  return machine_from(preset_table(name_or_path, place));  // the error for an unknown name suggests a similar preset
}

}  // namespace emplace::machine
