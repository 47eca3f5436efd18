// The pieces that a machine file is read with: devices first, then channels, routes and topologies that name them.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::machine {

// A placement names a device in one byte.
inline constexpr std::size_t max_machine_devices = 255;

// Checked numbers; the message names the key's line.
double positive(const ConfigTable& table, std::string_view key);      // above zero
double not_negative(const ConfigTable& table, std::string_view key);  // zero or more
// Letters, digits and any of : _ - . / ; what stands between "->" in `serves` and in a placement file.
std::string checked_name(const ConfigTable& table, std::string_view key, const char* what);

// A machine in the making: knows what names mean and refuses the second route of a pair.
class MachineDraft {
 public:
  Machine machine;

  // Reads one [[device]] and adds its `count` devices.
  void add_devices(const ConfigTable& table);
  // Allocates the route table; no devices after this.
  void close_devices(const std::string& place);

  std::size_t add_channel(MachineChannel channel, const std::string& place);
  void add_route(std::size_t from, std::size_t to, std::vector<std::size_t> channels, const std::string& place);

  // A device's name, or a [[device]]'s name for all its devices. InputError with the nearest name.
  const std::vector<std::size_t>& devices_called(const std::string& name, const std::string& place) const;
  // The one device called so.
  std::size_t device_called(const std::string& name, const std::string& place) const;
  // Every device that the list of names under `key` means, each once.
  std::vector<std::size_t> device_list(const ConfigTable& table, std::string_view key) const;
  std::size_t channel_called(const std::string& name, const std::string& place) const;

  [[nodiscard]] const std::string& name_of(std::size_t device) const { return machine.devices[device].name; }
  // InputError for a channel that no route uses.
  void refuse_idle_channels() const;

 private:
  std::map<std::string, std::vector<std::size_t>> called_;  // devices and [[device]] names
  std::unordered_map<std::string, std::size_t> channel_called_;
  std::vector<std::string> channel_place_;
  std::vector<bool> channel_used_;
  std::vector<std::string> route_place_;  // D x D; "": no route yet
};

// [[channel]] and [[route]].
void add_channel(MachineDraft& draft, const ConfigTable& table);
void add_routes(MachineDraft& draft, const ConfigTable& table);

// [[topology]]: shorthand for channels and routes.
struct TopologyKind {
  std::string name;
  void (*add)(MachineDraft& draft, const ConfigTable& table, const std::string& prefix);
};
std::span<const TopologyKind> topology_kinds();
void add_topology(MachineDraft& draft, const ConfigTable& table);

Machine machine_from(const ConfigTable& table);

}  // namespace emplace::machine
