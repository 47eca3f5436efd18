// The functions that read the parts of a machine file: devices first, then the channels, routes and topologies that
// refer to them.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "emplace/base/config.hpp"
#include "emplace/machine/machine.hpp"

namespace emplace::machine {

// A placement stores each device in one byte.
inline constexpr std::size_t max_machine_devices = 255;

// Numbers with a check; the message of the InputError has the line of the key.
double positive(const ConfigTable& table, std::string_view key);      // above zero
double not_negative(const ConfigTable& table, std::string_view key);  // zero or more
// A name of letters, digits and any of : _ - . / , so that it can be used on both sides of "->" in `serves` and in a
// placement file; else InputError.
std::string checked_name(const ConfigTable& table, std::string_view key, const char* what);

// A machine while its file is read: finds devices and channels by name and refuses a second route between two devices.
class MachineDraft {
 public:
  Machine machine;

  // Reads one [[device]] and adds its `count` devices.
  void add_devices(const ConfigTable& table);
  // Allocates the route table; no device may be added after this.
  void close_devices(const std::string& place);

  std::size_t add_channel(MachineChannel channel, const std::string& place);
  void add_route(std::size_t from, std::size_t to, std::vector<std::size_t> channels, const std::string& place);

  // The devices called `name`: one device, or all devices of the [[device]] of that name. InputError, which suggests
  // the most similar name, if there are none.
  const std::vector<std::size_t>& devices_called(const std::string& name, const std::string& place) const;
  // The only device called `name`; InputError if the name means several.
  std::size_t device_called(const std::string& name, const std::string& place) const;
  // All devices in the list of names under `key`; InputError if a device is in it twice.
  std::vector<std::size_t> device_list(const ConfigTable& table, std::string_view key) const;
  std::size_t channel_called(const std::string& name, const std::string& place) const;

  [[nodiscard]] const std::string& name_of(std::size_t device) const { return machine.devices[device].name; }
  // InputError for a channel that no route uses.
  void refuse_idle_channels() const;

 private:
  std::map<std::string, std::vector<std::size_t>> called_;  // by the names of devices and of [[device]] entries
  std::unordered_map<std::string, std::size_t> channel_called_;
  std::vector<std::string> channel_place_;
  std::vector<bool> channel_used_;
  std::vector<std::string> route_place_;  // D x D; "": no route yet
};

// [[channel]] and [[route]].
void add_channel(MachineDraft& draft, const ConfigTable& table);
void add_routes(MachineDraft& draft, const ConfigTable& table);

// [[topology]] is shorthand for channels and routes.
struct TopologyKind {
  std::string name;
  void (*add)(MachineDraft& draft, const ConfigTable& table, const std::string& prefix);
};
std::span<const TopologyKind> topology_kinds();
void add_topology(MachineDraft& draft, const ConfigTable& table);

Machine machine_from(const ConfigTable& table);

}  // namespace emplace::machine
