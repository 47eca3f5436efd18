// A machine whose devices are faster or slower than it says: what published times of whole models tell of it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "emplace/base/units.hpp"

namespace emplace::machine {

struct DeviceScale {
  double time = 1;                   // every op takes so many times as long
  std::optional<Bytes> memory = {};  // at most so much
};

// The text of a machine file for `name_or_path` with other devices of some kinds ("cpu", "gpu"); kinds that are not
// named stay as they are. A preset is extended, a file repeated. `name` is the new machine's. InputError as
// load_machine, and for a kind that no device has.
std::string rescaled_machine_toml(const std::string& name_or_path, const std::map<std::string, DeviceScale>& scales,
                                  const std::string& name);

}  // namespace emplace::machine
