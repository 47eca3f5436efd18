// What a framework calls a machine's devices.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace emplace::deploy {

// A framework's names for our kinds of devices: "gpu" -> "/device:GPU:{}" takes the number, "cpu" -> "CPU" stands for
// the one device of its kind.
using DeviceForms = std::map<std::string, std::string, std::less<>>;

class DeviceNames {
 public:
  // `renamed`: names given by the user ("igpu" -> "GPU.0"), which come before the forms. `marks`: what the framework's
  // names have beside letters and digits. InputError for a name with others, which the framework would misread.
  DeviceNames(DeviceForms forms, std::map<std::string, std::string> renamed, std::string framework,
              std::string_view marks);

  // Of "gpu:1" or "gpu" (which is number 0): its kind's form. InputError where neither the user nor the forms know it,
  // or where a kind without numbers has a second device; the message says how to name it.
  [[nodiscard]] std::string of(const std::string& device) const;
  // Of each of them, "" for "".
  [[nodiscard]] std::vector<std::string> of(const std::vector<std::string>& devices) const;

 private:
  DeviceForms forms_;
  std::map<std::string, std::string> renamed_;
  std::string framework_;
};

// "gpu:0=GPU.1" texts of the option --rename. InputError.
std::map<std::string, std::string> parse_renames(const std::vector<std::string>& texts);

}  // namespace emplace::deploy
