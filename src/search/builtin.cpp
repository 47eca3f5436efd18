// The list of placers: a new one is a source file, a line in methods.hpp and a line here.
#include <cmath>

#include "emplace/base/error.hpp"
#include "methods.hpp"

namespace emplace {

std::span<const PlacerEntry> placers() {
  static const PlacerEntry entries[] = {
      single_placer(), device_placer(), round_robin_placer(), random_placer(), contiguous_placer(), greedy_placer(),
  };
  return entries;
}

PlacerResult place_with(const std::string& method, const PlacerRequest& request, const ConfigTable& options) {
  if (request.evaluations && *request.evaluations == 0)
    throw InputError(options.place(), "a budget of 0 evaluations finds nothing");
  if (request.seconds && !(*request.seconds > 0 && std::isfinite(*request.seconds)))
    throw InputError(options.place(), "the budget must be above 0 seconds and finite, got {}", *request.seconds);

  constexpr std::string_view family = "device:";
  if (method.starts_with(family)) {
    ConfigTable with_name = options;
    with_name.set("name", {method.substr(family.size()), options.place()});
    return find_entry(placers(), "device", "placer").place(request, with_name);
  }
  std::vector<std::string> names = entry_names(placers());
  for (const std::string& name : names)
    if (name == method) return find_entry(placers(), method, "placer").place(request, options);
  for (const Device& device : request.problem->devices) names.push_back(std::string(family) + device.name);
  const std::string near = did_you_mean(method, names);
  throw InputError(options.place(), "unknown placer {}{}", quote(method),
                   near.empty() ? "; there are: " + join(names, ", ") : near);
}

}  // namespace emplace
