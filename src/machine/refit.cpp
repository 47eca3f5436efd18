// A machine file with other figures for one of its devices: what calibration writes.
#include <fmt/core.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "parts.hpp"
#include "presets.hpp"

namespace emplace {

namespace {

// "host1/gpu:3" and "gpu:3" are devices of the entry "gpu".
std::string entry_of(std::string_view device) {
  if (device.starts_with("host"))
    if (const std::size_t slash = device.find('/'); slash != std::string_view::npos) device.remove_prefix(slash + 1);
  return std::string(device.substr(0, device.rfind(':')));
}

ConfigValue table_of(const std::map<std::string, double>& figures, const std::string& place) {
  ConfigTable table(place);
  for (const auto& [name, figure] : figures) table.set(name, {figure, place});
  return {std::vector<ConfigTable>{std::move(table)}, place};
}

std::string line_of(const std::string& key, const ConfigValue& value) {
  ConfigTable line;
  line.set(key, value);
  return line.to_toml();
}

// As people write machine files: [[device]] with [device.efficiency] below it.
std::string as_machine_file(const ConfigTable& machine) {
  std::string lines, lists;
  for (const std::string& key : machine.keys()) {
    const ConfigValue& value = *machine.find(key);
    if (!value.is_table_list) {
      lines += line_of(key, value);
      continue;
    }
    for (const ConfigTable& entry : std::get<std::vector<ConfigTable>>(value.data)) {
      std::string tables;
      lists += fmt::format("\n[[{}]]\n", key);
      for (const std::string& inner : entry.keys()) {
        const ConfigValue& figure = *entry.find(inner);
        const auto* table = std::get_if<std::vector<ConfigTable>>(&figure.data);
        if (table != nullptr && !figure.is_table_list)
          tables += fmt::format("\n[{}.{}]\n{}", key, inner, table->front().to_toml());
        else
          lists += line_of(inner, figure);
      }
      lists += tables;
    }
  }
  return lines + lists;
}

}  // namespace

std::string refitted_machine_toml(const std::string& name_or_path, const MachineDevice& device,
                                  const std::string& name) {
  const std::string place = "calibration";
  ConfigTable machine(place);
  ConfigTable described;
  if (is_preset(name_or_path)) {
    described = preset_table(name_or_path, {});
    machine.set("name", {name, place});
    machine.set("extends", {name_or_path, place});
  } else {
    machine = ConfigTable::read_toml(name_or_path);
    described = with_base(machine);
    machine.set("name", {name, place});
  }

  std::vector<std::string> entries;
  for (const ConfigTable& entry : described.tables("device")) entries.push_back(entry.text("name"));
  std::string wanted = device.name;
  for (const std::string& candidate : {device.name, entry_of(device.name)})
    if (std::find(entries.begin(), entries.end(), candidate) != entries.end()) wanted = candidate;
  if (std::find(entries.begin(), entries.end(), wanted) == entries.end())
    throw InputError(name_or_path, "the machine has no [[device]] {}{}", quote(wanted), did_you_mean(wanted, entries));

  ConfigTable figures(place);
  figures.set("name", {wanted, place});
  figures.set("memory_bytes_per_s", {device.memory_bytes_per_s, place});
  figures.set("launch_overhead_s", {device.launch_overhead_s, place});
  figures.set("overlap", {device.overlap, place});
  figures.set("efficiency", table_of(device.efficiency, place));
  figures.set("memory_efficiency", table_of(device.memory_efficiency, place));
  figures.set("half_flops", table_of(device.half_flops, place));
  figures.set("half_bytes", table_of(device.half_bytes, place));
  if (!device.fused_speedup.empty()) figures.set("fused_speedup", table_of(device.fused_speedup, place));
  ConfigTable over(place);
  over.set("device", {std::vector<ConfigTable>{std::move(figures)}, place, true});
  return as_machine_file(extended(std::move(machine), over));
}

}  // namespace emplace
