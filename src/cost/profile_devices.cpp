// Finds the devices of a machine to which a profile or the user refers.
#include <algorithm>

#include "base/text.hpp"
#include "cost/profile_devices.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

std::vector<std::size_t> devices_meant(const machine::Machine& machine, const std::string& name,
                                       const std::string& place) {
  std::vector<std::size_t> found;
  std::vector<std::string> names;
  for (std::size_t d = 0; d < machine.devices.size(); ++d) {
    const std::string& known = machine.devices[d].name;
    const std::size_t colon = known.rfind(':');
    const std::string group = known.substr(0, colon);
    if (known == name || (colon != std::string::npos && group == name)) found.push_back(d);
    names.push_back(known);
    if (group != known && std::find(names.begin(), names.end(), group) == names.end()) names.push_back(group);
  }
  if (found.empty()) {
    const std::string near = did_you_mean(name, names);
    throw InputError(place, "machine {} has no device {}{}", quote(machine.name), quote(name),
                     near.empty() ? "; devices: " + join(names, ", ") : near);
  }
  return found;
}

std::vector<std::vector<std::size_t>> devices_of(const DeviceProfile& given, const machine::Machine& machine) {
  const Profile& profile = given.profile;
  const bool named = profile.devices.size() > 1 || !profile.devices.front().empty();
  std::vector<std::vector<std::size_t>> devices;
  if (!named) {
    if (given.device.empty() && machine.devices.size() > 1) {
      std::vector<std::string> names;
      for (const machine::MachineDevice& device : machine.devices) names.push_back(quote(device.name));
      throw InputError(profile.file, "the profile does not name the device that it measured; give one of {}",
                       join(names, ", "));
    }
    devices.push_back(given.device.empty() ? std::vector<std::size_t>{0}
                                           : devices_meant(machine, given.device, "profile device"));
    return devices;
  }
  // A given device selects one of the table's columns; without one, all columns are used.
  bool picked = given.device.empty();
  for (const std::string& name : profile.devices) {
    const bool wanted = given.device.empty() || name == given.device;
    picked = picked || wanted;
    devices.push_back(wanted ? devices_meant(machine, name, profile.file) : std::vector<std::size_t>{});
  }
  if (!picked)
    throw InputError(profile.file, "the profile has no column {}{}", quote(given.device),
                     did_you_mean(given.device, profile.devices));
  return devices;
}

}  // namespace emplace::cost
