#include "cost/tensorflow_times.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "cost/profile_forms.hpp"
#include "emplace/base/error.hpp"

namespace emplace::cost {

namespace {

// Constants do nothing in a step; there are many that the optimiser added.
bool is_added_by_runtime(std::string_view node, std::string_view type) {
  static constexpr std::array types = {"_Arg",      "_Retval", "_DeviceArg", "_DeviceRetval", "_Send",
                                       "_HostSend", "_Recv",   "_HostRecv",  "Const"};
  return node == "_SOURCE" || node == "_SINK" || std::find(types.begin(), types.end(), type) != types.end();
}

bool is_fused(std::string_view type) {
  return type.find("Fused") != std::string_view::npos || (type.starts_with('_') && type.find("With") != type.npos);
}

}  // namespace

TensorflowTimes::TensorflowTimes(Profile& profile) : profile_(profile), times_(profile) {
  profile.devices.clear();
  profile.whole_run = true;
}

void TensorflowTimes::add(std::string_view device, std::string node, std::string_view type, double seconds,
                          const std::string& place) {
  const bool of_stream = device.ends_with("/stream:all");
  if (!of_stream && (device.find("/stream:") != device.npos || device.find("/memcpy") != device.npos)) return;
  if (of_stream) {
    device.remove_suffix(std::string_view("/stream:all").size());
    if (const std::size_t colon = node.find(':'); colon != std::string::npos) node.resize(colon);
  }
  if (node.empty() || is_added_by_runtime(node, type)) return;
  ProfileRow& row = times_.add(node, "", seconds, place, column_of(device, place));
  row.fused = is_fused(type);
  // Where oneDNN's kernels are, its passes went over the graph.
  profile_.fused_run = profile_.fused_run || row.fused || type.starts_with("_Mkl");
}

void TensorflowTimes::finish() {
  if (profile_.devices.size() == 1) profile_.devices.front().clear();
  times_.finish();
}

std::size_t TensorflowTimes::column_of(std::string_view device, const std::string& place) {
  constexpr std::size_t most_devices = 255;
  const std::size_t at = device.rfind("device:");
  std::string name(at == device.npos ? device : device.substr(at + std::string_view("device:").size()));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto found = std::find(profile_.devices.begin(), profile_.devices.end(), name);
  if (found != profile_.devices.end()) return static_cast<std::size_t>(found - profile_.devices.begin());
  if (profile_.devices.size() == most_devices) throw InputError(place, "more than {} devices", most_devices);
  profile_.devices.push_back(std::move(name));
  return profile_.devices.size() - 1;
}

}  // namespace emplace::cost
