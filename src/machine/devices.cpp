// Reads [[device]]: one description of `count` devices.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "machine/parts.hpp"

namespace emplace::machine {

namespace {

// Parses a number with a unit: "12 GiB", "512MB", "1.5 TiB".
Bytes parse_memory(const std::string& text, const std::string& place) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr Unit units[] = {{"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},
                                   {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"B", 1}};
  for (const Unit& unit : units) {
    if (!text.ends_with(unit.name)) continue;
    std::string_view digits(text.data(), text.size() - unit.name.size());
    while (digits.ends_with(' ')) digits.remove_suffix(1);
    double amount = 0;
    if (!parse_number(digits, amount)) break;
    const double bytes = amount * unit.bytes;
    if (!(bytes >= 1) || bytes > static_cast<double>(total_limit))
      throw InputError(place, "'memory' must be from 1 B to 2^62 B, got {}", quote(text));
    return std::llround(bytes);
  }
  throw InputError(place, "'memory' must be a number with a unit (\"12 GiB\", \"8 GB\") or \"unlimited\", got {}",
                   quote(text));
}

void read_memory(MachineDevice& device, const ConfigTable& table) {
  const bool as_text_given = table.contains("memory");
  const bool as_bytes_given = table.contains("memory_bytes");
  if (!as_text_given && !as_bytes_given)
    throw InputError(table.place(),
                     "device {} has no memory size; give memory = \"12 GiB\", memory_bytes = ... or memory = "
                     "\"unlimited\"",
                     quote(device.name));
  if (as_text_given && as_bytes_given)
    throw InputError(table.place_of("memory"), "device {} gives both 'memory' and 'memory_bytes'; keep one",
                     quote(device.name));
  if (as_bytes_given) {
    device.memory_bytes = table.whole("memory_bytes", 0);
    if (device.memory_bytes <= 0 || device.memory_bytes > total_limit)
      throw InputError(table.place_of("memory_bytes"), "'memory_bytes' must be from 1 to 2^62, got {}",
                       device.memory_bytes);
    return;
  }
  const std::string text = table.text("memory");
  device.memory_limited = text != "unlimited";
  if (device.memory_limited) device.memory_bytes = parse_memory(text, table.place_of("memory"));
}

// Reads a table of numbers whose keys are "default" or one of `names`; `read` (positive or not_negative) checks each
// number.
std::map<std::string, double> read_figures(const ConfigTable& table, std::string_view key,
                                           std::span<const std::string> names,
                                           double (*read)(const ConfigTable&, std::string_view) = positive) {
  const ConfigTable& figures = table.table(key);
  std::map<std::string, double> out;
  for (const std::string& name : names)
    if (figures.contains(name)) out[name] = read(figures, name);
  if (figures.contains("default")) out["default"] = read(figures, "default");
  std::vector<std::string> known(names.begin(), names.end());
  known.emplace_back("default");
  figures.refuse_unread(known);
  return out;
}

// The op types that may have an efficiency of their own: on CPUs, llama.cpp computes the one row by row, the other
// value by value.
constexpr const char* types_with_efficiency[] = {"ggml.mul_mat_id", "ggml.tanh"};

std::map<std::string, double> read_shares(const ConfigTable& table, std::string_view key,
                                          std::span<const std::string> names, const char* whole) {
  std::map<std::string, double> shares = read_figures(table, key, names);
  for (const auto& [cls, share] : shares)
    if (share > 1)
      throw InputError(table.table(key).place_of(cls),
                       "the {} of {} must be above 0 and at most 1 (a share of {}), got {}", key, quote(cls), whole,
                       share);
  return shares;
}

MachineDevice read_device(const ConfigTable& table) {
  MachineDevice device;
  device.name = checked_name(table, "name", "device");
  device.kind = table.text("kind");
  if (device.kind.empty()) throw InputError(table.place_of("kind"), "'kind' must not be empty (\"cpu\", \"gpu\", ...)");
  read_memory(device, table);
  device.peak_flops = read_figures(table, "peak_flops", machine_dtypes());
  if (device.peak_flops.empty())
    throw InputError(table.place(),
                     "device {} has no peak_flops; give FLOP/s by number type, as in peak_flops = {{ f32 "
                     "= 4e12 }}",
                     quote(device.name));
  device.memory_bytes_per_s = positive(table, "memory_bytes_per_s");
  if (table.contains("launch_overhead_s")) device.launch_overhead_s = not_negative(table, "launch_overhead_s");
  std::vector<std::string> classes(machine_op_classes().begin(), machine_op_classes().end());
  device.memory_efficiency = read_shares(table, "memory_efficiency", classes, "memory_bytes_per_s");
  classes.insert(classes.end(), std::begin(types_with_efficiency), std::end(types_with_efficiency));
  device.efficiency = read_shares(table, "efficiency", classes, "the peak");
  device.half_flops = read_figures(table, "half_flops", machine_op_classes(), not_negative);
  device.half_bytes = read_figures(table, "half_bytes", machine_op_classes(), not_negative);
  device.fused_speedup = read_figures(table, "fused_speedup", machine_op_classes());
  if (table.contains("overlap")) device.overlap = not_negative(table, "overlap");
  if (device.overlap > 1)
    throw InputError(table.place_of("overlap"), "'overlap' must be from 0 (none) to 1 (all), got {}", device.overlap);
  if (!device.efficiency.contains("default"))
    throw InputError(table.place(),
                     "device {} needs efficiency = {{ default = ... }}, the share of the peak that op "
                     "classes without a figure of their own reach",
                     quote(device.name));
  device.unsupported = table.texts("unsupported");
  return device;
}

}  // namespace

void MachineDraft::add_devices(const ConfigTable& table) {
  const MachineDevice device = read_device(table);
  const bool counted = table.contains("count");
  if (counted && std::holds_alternative<std::string>(table.find("count")->data))
    throw InputError(table.place_of("count"),
                     "'count' must be a whole number, found {}; \"N\" has a value only in a preset's name, as in k40x2",
                     quote(as_text(*table.find("count"), "count")));
  const std::int64_t count = table.whole("count", 1);
  if (count < 1 || count > static_cast<std::int64_t>(max_machine_devices))
    throw InputError(table.place_of("count"), "'count' must be from 1 to {}, got {}", max_machine_devices, count);
  table.refuse_unread();

  const auto take_name = [&](const std::string& name) {
    if (!called_.emplace(name, std::vector<std::size_t>{}).second)
      throw InputError(table.place(), "the device name {} is used twice", quote(name));
  };
  take_name(device.name);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t position = machine.devices.size();
    if (position == max_machine_devices)
      throw InputError(table.place(), "more than {} devices, the most that a placement can name", max_machine_devices);
    machine.devices.push_back(device);
    called_[device.name].push_back(position);
    if (!counted) continue;
    std::string& name = machine.devices.back().name;
    name = fmt::format("{}:{}", device.name, i);
    take_name(name);
    called_[name].push_back(position);
  }
}

void MachineDraft::close_devices(const std::string& place) {
  if (machine.devices.empty()) throw InputError(place, "the machine has no devices; it needs at least one [[device]]");
  route_place_.resize(machine.devices.size() * machine.devices.size());
}

}  // namespace emplace::machine
