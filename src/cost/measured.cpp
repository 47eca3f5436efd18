#include "emplace/cost/measured.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "emplace/base/error.hpp"
#include "emplace/base/text.hpp"
#include "emplace/cost/roofline.hpp"

namespace emplace {

namespace {

constexpr std::size_t names_shown = 5;
// Looking for near names takes time in names x length^2; a graph of more ops gets none.
constexpr std::size_t most_names_searched = 10'000;

std::string nearest_op(const std::string& wanted, const Graph& graph) {
  if (graph.ops.size() > most_names_searched) return {};
  std::vector<std::string> names;
  for (const GraphOp& op : graph.ops) names.push_back(op.name);
  return did_you_mean(wanted, names);
}

std::string some_ops(const std::vector<std::string>& names, const Graph* near_in) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names_shown, names.size()); ++i)
    text += (i > 0 ? ", " : "") + quote(names[i]) + (near_in != nullptr ? nearest_op(names[i], *near_in) : "");
  if (names.size() > names_shown) text += fmt::format(" and {} more", names.size() - names_shown);
  return text;
}

// Per column of the profile the devices that it measured.
std::vector<std::vector<std::size_t>> devices_of(const DeviceProfile& given, const Machine& machine) {
  const Profile& profile = given.profile;
  const bool named = profile.devices.size() > 1 || !profile.devices.front().empty();
  std::vector<std::vector<std::size_t>> devices;
  if (!named) {
    if (given.device.empty() && machine.devices.size() > 1) {
      std::vector<std::string> names;
      for (const MachineDevice& device : machine.devices) names.push_back(quote(device.name));
      throw InputError(profile.file, "the profile does not say which device it measured; give one of {}",
                       join(names, ", "));
    }
    devices.push_back(given.device.empty() ? std::vector<std::size_t>{0}
                                           : devices_meant(machine, given.device, "profile device"));
    return devices;
  }
  // A device picks one of the table's columns; without, all count.
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

}  // namespace

std::vector<std::size_t> devices_meant(const Machine& machine, const std::string& name, const std::string& place) {
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

namespace {

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

struct Matching {
  const PassResult& passed;
  const Graph& input;
  const Machine& machine;
  std::unordered_map<std::string_view, std::size_t> whole;   // ops after passes that no other was merged into
  std::unordered_map<std::string_view, std::size_t> before;  // ops of `input`
  std::vector<double> seconds, member_seconds;               // ops after and before passes x devices

  Matching(const PassResult& result, const Graph& graph, const Machine& devices)
      : passed(result), input(graph), machine(devices) {
    seconds.assign(passed.graph.ops.size() * machine.devices.size(), not_measured);
    for (std::size_t i = 0; i < passed.graph.ops.size(); ++i)
      if (passed.graph.ops[i].merged_types.empty()) whole.emplace(passed.graph.ops[i].name, i);
    for (std::size_t i = 0; i < input.ops.size(); ++i)
      if (!whole.contains(input.ops[i].name)) before.emplace(input.ops[i].name, i);
  }

  void set(std::vector<double>& times, std::size_t op, const std::vector<std::size_t>& devices, const ProfileRow& row,
           const std::string& file) {
    for (const std::size_t device : devices) {
      double& time = times[op * machine.devices.size() + device];
      if (!std::isnan(time))
        throw InputError(row.line > 0 ? fmt::format("{}:{}", file, row.line) : file,
                         "op {} is timed on device {} a second time", quote(row.op),
                         quote(machine.devices[device].name));
      time = row.seconds;
    }
  }

  // Puts a row where it belongs and counts it.
  void place(const ProfileRow& row, const std::vector<std::size_t>& devices, ProfileUse& use) {
    ++use.rows;
    const auto at = whole.find(row.op);
    const auto was = before.find(row.op);
    if (at == whole.end() && was == before.end()) {
      use.unmatched.push_back(row.op);
      return;
    }
    const GraphOp& op = at != whole.end() ? passed.graph.ops[at->second] : input.ops[was->second];
    if (!row.type.empty() && row.type != op.type) {
      use.other_type.push_back(row.op);
    } else if (at != whole.end()) {
      ++use.used;
      set(seconds, at->second, devices, row, use.file);
    } else if (passed.became[was->second].is_none()) {
      ++use.folded;
      use.folded_s += row.seconds;
    } else {
      if (member_seconds.empty()) member_seconds.assign(input.ops.size() * machine.devices.size(), not_measured);
      set(member_seconds, was->second, devices, row, use.file);
      use.partial.push_back(row.op);  // until the others of its group are known
    }
  }

  // The time of the merged op `id` on `device` from those of its members; NaN if some are not known.
  double merged_time(OpId id, const std::vector<OpId>& members, std::size_t device, const Roofline& roofline) const {
    std::size_t count = 0;
    for (const auto& [type, times] : passed.graph.ops[id.index()].merged_types) count += times;
    if (count != members.size()) return not_measured;  // others are new, of a backward pass
    const auto estimate = [&](const Graph& graph, OpId op) {
      return roofline.seconds(cost_of(graph, op), compute_dtype(graph, op), graph.ops[op.index()], "profile");
    };
    double measured = 0, estimated = 0;
    for (const OpId member : members) {
      const double part = estimate(input, member);
      const double time = member_seconds[member.index() * machine.devices.size() + device];
      if (std::isnan(time) && !(part == 0)) return not_measured;
      measured += std::isnan(time) ? 0 : time;
      estimated += part;
    }
    const double ratio = estimated > 0 ? estimate(passed.graph, id) / estimated : 1;
    return measured * ratio;
  }

  void time_merged_ops(std::vector<ProfileUse>& uses) {
    if (member_seconds.empty()) return;
    const std::vector<std::vector<OpId>> origins = passed.origins();
    std::vector<bool> known(input.ops.size());
    for (std::size_t d = 0; d < machine.devices.size(); ++d) {
      const Roofline roofline(machine.devices[d]);
      for (std::size_t i = 0; i < passed.graph.ops.size(); ++i) {
        if (passed.graph.ops[i].merged_types.empty()) continue;
        const double time = merged_time(OpId{i}, origins[i], d, roofline);
        if (std::isnan(time)) continue;
        seconds[i * machine.devices.size() + d] = time;
        for (const OpId member : origins[i]) known[member.index()] = true;
      }
    }
    for (ProfileUse& use : uses)
      use.used += std::erase_if(use.partial, [&](const std::string& op) { return known[before.at(op)]; });
  }
};

}  // namespace

MeasuredTimes measured_times(const PassResult& passed, const Graph& input, const Machine& machine,
                             std::span<const DeviceProfile> profiles) {
  Matching matching(passed, input, machine);
  MeasuredTimes measured;
  for (const DeviceProfile& given : profiles) {
    const auto devices = devices_of(given, machine);
    ProfileUse use;
    use.file = given.profile.file;
    for (const ProfileRow& row : given.profile.rows)
      if (!devices[row.device].empty()) matching.place(row, devices[row.device], use);  // else: not asked for
    if (use.used + use.partial.size() == 0)
      throw InputError(use.file, "none of its {} times is of an op of the graph: {}", use.rows,
                       some_ops(use.unmatched.empty() ? use.other_type : use.unmatched, &input));
    measured.profiles.push_back(std::move(use));
  }
  matching.time_merged_ops(measured.profiles);
  measured.seconds = std::move(matching.seconds);
  return measured;
}

std::vector<std::string> profile_warnings(const MeasuredTimes& measured, const Graph& graph) {
  std::vector<std::string> warnings;
  for (const ProfileUse& use : measured.profiles) {
    if (!use.unmatched.empty())
      warnings.push_back(fmt::format("{}: {} of {} times are of no op of the graph: {}", use.file, use.unmatched.size(),
                                     use.rows, some_ops(use.unmatched, &graph)));
    if (!use.other_type.empty())
      warnings.push_back(
          fmt::format("{}: {} of {} times are of ops that have another type in the graph, so perhaps of fused "
                      "kernels, and are not used: {}",
                      use.file, use.other_type.size(), use.rows, some_ops(use.other_type, nullptr)));
    if (!use.partial.empty())
      warnings.push_back(
          fmt::format("{}: {} of {} times are not used, as their ops are merged with others that were "
                      "not measured: {}",
                      use.file, use.partial.size(), use.rows, some_ops(use.partial, nullptr)));
  }
  return warnings;
}

}  // namespace emplace
