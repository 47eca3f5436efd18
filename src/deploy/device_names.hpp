// The names that a framework uses for a machine's devices.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace emplace::deploy {

// A framework's names for our kinds of devices. In "gpu" -> "/device:GPU:{}" the device's number replaces {}; a name
// without {}, as in "cpu" -> "CPU", is for the only device of its kind.
using DeviceForms = std::map<std::string, std::string, std::less<>>;

class DeviceNames {
 public:
  // `renamed`: names given by the user ("igpu" -> "GPU.0"), which are used instead of the forms. `marks`: the
  // characters besides letters and digits that the framework's names can have; InputError for a name with other
  // characters.
  DeviceNames(DeviceForms forms, std::map<std::string, std::string> renamed, std::string framework,
              std::string_view marks);

  // The framework's name of a device such as "gpu:1" or "gpu" (which is number 0). InputError if neither the user nor
  // the forms name it, or if a kind without numbers has a second device; the message names the option to rename it.
  [[nodiscard]] std::string of(const std::string& device) const;
  // The names of all these devices; "" for "".
  [[nodiscard]] std::vector<std::string> of(const std::vector<std::string>& devices) const;

 private:
  DeviceForms forms_;
  std::map<std::string, std::string> renamed_;
  std::string framework_;
};

// Parses texts of the option --rename, such as "gpu:0=GPU.1". InputError for a wrong one.
std::map<std::string, std::string> parse_renames(const std::vector<std::string>& texts);

}  // namespace emplace::deploy
