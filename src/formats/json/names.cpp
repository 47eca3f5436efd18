#include "formats/json/names.hpp"

#include <fmt/core.h>

#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats::json {

namespace {

// Suggests a similar name, but not for huge problems, where comparing with all names would take minutes.
std::string hint(std::string_view wanted, const std::vector<std::string>& names) {
  return names.size() > 10'000 ? std::string() : did_you_mean(wanted, names);
}

}  // namespace

Positions positions_of(const std::vector<std::string>& names) {
  Positions positions;
  positions.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) positions.emplace(names[i], static_cast<std::uint32_t>(i));
  return positions;
}

std::uint32_t position_of(std::string_view name, const Positions& positions, const std::vector<std::string>& names,
                          const char* what, const Place& place) {
  const auto found = positions.find(name);
  if (found == positions.end())
    throw InputError(place.str(), "the problem has no {} {}{}", what, quote(name), hint(name, names));
  return found->second;
}

std::vector<std::uint8_t> devices_of_ops(Value object, const Place& ops, const Positions& op_positions,
                                         const Problem& problem) {
  std::vector<std::string> device_names;
  for (const Device& device : problem.devices) device_names.push_back(device.name);
  const Positions device_positions = positions_of(device_names);
  std::vector<std::uint8_t> devices(problem.op_count(), 0);
  std::vector<char> placed(problem.op_count(), 0);
  object.each_member(ops, [&](std::string_view name, Value device) {
    const Place place(ops, name);
    const std::uint32_t op = position_of(name, op_positions, problem.op_names, "op", ops);
    devices[op] =
        static_cast<std::uint8_t>(position_of(device.text(place), device_positions, device_names, "device", place));
    placed[op] = 1;
  });
  std::size_t missing = 0;
  std::size_t first = 0;
  for (std::size_t op = problem.op_count(); op-- > 0;)
    if (placed[op] == 0) {
      ++missing;
      first = op;
    }
  if (missing > 0)
    throw InputError(ops.str(), "op {} has no device{}", quote(problem.op_names[first]),
                     missing == 1 ? "" : fmt::format(" ({} ops have none)", missing));
  return devices;
}

}  // namespace emplace::formats::json
