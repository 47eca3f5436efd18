// A machine whose devices are faster or slower than it says: what published times of whole models tell of it.
#pragma once

#include <map>
#include <string>

namespace emplace {

// The text of a machine file for `name_or_path` on whose devices of a kind ("cpu", "gpu") every op takes `factors`
// times as long; kinds that are not named stay as they are. A preset is extended, a file repeated. `name` is the new
// machine's. InputError as load_machine, and for a kind that no device has.
std::string rescaled_machine_toml(const std::string& name_or_path, const std::map<std::string, double>& factors,
                                  const std::string& name);

}  // namespace emplace
