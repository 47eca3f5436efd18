// Rescales the devices of a machine, so that it fits published times of whole models.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "emplace/base/types.hpp"

namespace emplace::machine {

struct DeviceScale {
  double time = 1;                   // factor on the time of every op
  std::optional<Bytes> memory = {};  // upper limit of the memory size
};

// Returns the text of a machine file for `name_or_path` with the devices of the given kinds ("cpu", "gpu") rescaled;
// other kinds stay as they are. The new file extends a preset, but repeats a file. `name` is the new machine's name.
// InputError as load_machine, and for a kind that no device has.
std::string rescaled_machine_toml(const std::string& name_or_path, const std::map<std::string, DeviceScale>& scales,
                                  const std::string& name);

}  // namespace emplace::machine
