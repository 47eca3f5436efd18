// [hosts]: builds a machine of several equal hosts on a network from the description of one host.
#include <fmt/core.h>

#include "emplace/base/error.hpp"
#include "machine/parts.hpp"
#include "machine/presets.hpp"

namespace emplace::machine {

namespace {

// Whether the texts under `key` are names of things in a host, which get the host's prefix: host0/gpu, host0/pcie.
bool holds_names(std::string_view key) {
  for (const char* known : {"name", "host", "devices", "links", "serves", "channels"})
    if (key == known) return true;
  return false;
}

std::string of_host(const std::string& prefix, const std::string& name) {
  const std::size_t arrow = name.find("->");
  if (arrow == std::string::npos) return prefix + name;
  std::size_t to = arrow + 2;
  while (to < name.size() && name[to] == ' ') ++to;
  return prefix + name.substr(0, to) + prefix + name.substr(to);
}

ConfigTable entry_of_host(ConfigTable entry, std::string_view list, const std::string& prefix) {
  // The name of a topology without a name is its kind.
  if (list == "topology" && !entry.contains("name"))
    if (const ConfigValue* kind = entry.find("kind")) entry.set("name", *kind);
  for (const std::string& key : entry.keys()) {
    if (!holds_names(key)) continue;
    ConfigValue value = *entry.find(key);
    if (auto* tables = std::get_if<std::vector<ConfigTable>>(&value.data))
      for (ConfigTable& table : *tables) table = entry_of_host(std::move(table), key, prefix);
    if (auto* text = std::get_if<std::string>(&value.data)) *text = of_host(prefix, *text);
    if (auto* names = std::get_if<ConfigList>(&value.data))
      for (ConfigValue& element : *names)
        if (auto* text = std::get_if<std::string>(&element.data)) *text = of_host(prefix, *text);
    entry.set(key, std::move(value));
  }
  return entry;
}

}  // namespace

ConfigTable with_hosts(ConfigTable table) {
  if (!table.contains("hosts")) return table;
  const ConfigTable hosts = table.table("hosts");
  const std::int64_t count = hosts.whole("count", 0);
  if (count < 1 || count > static_cast<std::int64_t>(max_machine_devices))
    throw InputError(hosts.contains("count") ? hosts.place_of("count") : hosts.place(),
                     "[hosts] needs 'count', from 1 to {}, got {}", max_machine_devices, count);
  const double latency_s = not_negative(hosts, "latency_s");
  const double bytes_per_s = positive(hosts, "bytes_per_s");
  const std::string network = hosts.contains("name") ? checked_name(hosts, "name", "network") : "network";
  hosts.refuse_unread();

  const std::string place = table.place_of("hosts");
  for (const char* list : {"device", "channel", "route", "topology"}) {
    const std::vector<ConfigTable> described = table.tables(list);
    constexpr std::size_t most_entries = 100'000;  // a network of 255 hosts repeats a file of 16 MiB
    if (described.size() > most_entries / static_cast<std::size_t>(count))
      throw InputError(place, "{} hosts with {} entries of [[{}]] each are too many", count, described.size(), list);
    std::vector<ConfigTable> all;
    for (std::int64_t h = 0; h < count; ++h)
      for (const ConfigTable& entry : described) all.push_back(entry_of_host(entry, list, fmt::format("host{}/", h)));
    if (!all.empty()) table.set(list, {std::move(all), place, true});
  }
  table.erase("hosts");
  if (count == 1) return table;

  std::vector<ConfigTable> groups;
  const std::vector<ConfigTable>& devices = table.tables("device");
  const std::size_t each = devices.size() / static_cast<std::size_t>(count);
  for (std::size_t first = 0; first < devices.size(); first += each) {
    ConfigList names;
    for (std::size_t d = first; d < first + each; ++d)
      if (const ConfigValue* name = devices[d].find("name"))
        names.push_back(*name);  // a device without a name is refused later
    ConfigTable group(place);
    group.set("devices", {std::move(names), place});
    groups.push_back(std::move(group));
  }
  ConfigTable ethernet(place);
  ethernet.set("kind", {std::string("ethernet"), place});
  ethernet.set("name", {network, place});
  ethernet.set("latency_s", {latency_s, place});
  ethernet.set("bytes_per_s", {bytes_per_s, place});
  ethernet.set("hosts", {std::move(groups), place, true});
  std::vector<ConfigTable> topologies = table.tables("topology");
  topologies.push_back(std::move(ethernet));
  table.set("topology", {std::move(topologies), place, true});
  return table;
}

}  // namespace emplace::machine
