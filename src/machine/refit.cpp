// Writes a machine file with other figures for some of its devices, for calibration.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "machine/parts.hpp"
#include "machine/presets.hpp"
#include "machine/rescale.hpp"

namespace emplace::machine {

namespace {

// The [[device]] entry of a device: "host1/gpu:3" and "gpu:3" are devices of the entry "gpu".
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

// Formats the table in the usual way of machine files: [[device]] with [device.efficiency] below it.
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

// The table of a machine's file with a new name, and the table that describes its devices (with the preset it extends).
struct MachineFile {
  ConfigTable table, described;
};
MachineFile renamed_file(const std::string& name_or_path, const std::string& name, const std::string& place) {
  if (!is_preset(name_or_path)) {
    ConfigTable table = ConfigTable::read_toml(name_or_path);
    ConfigTable described = with_base(table);
    table.set("name", {name, place});
    return {std::move(table), std::move(described)};
  }
  ConfigTable table(place);
  table.set("name", {name, place});
  table.set("extends", {name_or_path, place});
  return {std::move(table), preset_table(name_or_path, {})};
}

std::string with_figures(MachineFile file, std::vector<ConfigTable> figures, const std::string& place) {
  ConfigTable over(place);
  over.set("device", {std::move(figures), place, true});
  return as_machine_file(extended(std::move(file.table), over));
}

}  // namespace

std::string refitted_machine_toml(const std::string& name_or_path, const MachineDevice& device,
                                  const std::string& name) {
  const std::string place = "calibration";
  MachineFile file = renamed_file(name_or_path, name, place);
  std::vector<std::string> entries;
  for (const ConfigTable& entry : file.described.tables("device")) entries.push_back(entry.text("name"));
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
  return with_figures(std::move(file), {std::move(figures)}, place);
}

std::string rescaled_machine_toml(const std::string& name_or_path, const std::map<std::string, DeviceScale>& scales,
                                  const std::string& name) {
  const std::string place = "calibration";
  const Machine machine = load_machine(name_or_path);
  MachineFile file = renamed_file(name_or_path, name, place);
  std::vector<ConfigTable> list;
  std::set<std::string> kinds;
  for (const ConfigTable& entry : file.described.tables("device")) {
    const std::string called = entry.text("name");
    const auto device = std::ranges::find_if(machine.devices, [&](const MachineDevice& each) {
      return each.name == called || entry_of(each.name) == called;
    });
    EMPLACE_CHECK(device != machine.devices.end(), "the entry {} has no device", called);
    kinds.insert(device->kind);
    const auto scale = scales.find(device->kind);
    if (scale == scales.end()) continue;
    const double time = scale->second.time;
    EMPLACE_CHECK(time > 0);
    ConfigTable figures(place);
    figures.set("name", {called, place});
    std::map<std::string, double> peaks = device->peak_flops;
    for (auto& [dtype, peak] : peaks) peak /= time;
    figures.set("peak_flops", table_of(peaks, place));
    figures.set("memory_bytes_per_s", {device->memory_bytes_per_s / time, place});
    figures.set("launch_overhead_s", {device->launch_overhead_s * time, place});
    if (const auto memory = scale->second.memory; memory && (!device->memory_limited || *memory < device->memory_bytes))
      figures.set("memory", {fmt::format("{} B", *memory), place});
    list.push_back(std::move(figures));
  }
  for (const auto& [kind, scale] : scales)
    if (!kinds.contains(kind))
      throw InputError(name_or_path, "the machine has no device of kind {}; there are: {}", quote(kind),
                       join(std::vector<std::string>(kinds.begin(), kinds.end()), ", "));
  return with_figures(std::move(file), std::move(list), place);
}

}  // namespace emplace::machine
