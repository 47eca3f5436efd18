// Reads [[channel]] and [[route]]: which ordered pairs of devices are connected, and over which channels.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "machine/parts.hpp"

namespace emplace::machine {

const std::vector<std::size_t>& MachineDraft::devices_called(const std::string& name, const std::string& place) const {
  if (const auto at = called_.find(name); at != called_.end()) return at->second;
  std::vector<std::string> names;
  for (const auto& [known, devices] : called_) names.push_back(known);
  const std::string near = did_you_mean(name, names);
  throw InputError(place, "there is no device {}{}", quote(name),
                   near.empty() ? fmt::format("; devices: {}", join(names, ", ")) : near);
}

std::size_t MachineDraft::device_called(const std::string& name, const std::string& place) const {
  const auto& devices = devices_called(name, place);
  if (devices.size() != 1)
    throw InputError(place, "one device is needed here, but {} means {} devices (write {})", quote(name),
                     devices.size(), quote(name_of(devices.front())));
  return devices.front();
}

std::vector<std::size_t> MachineDraft::device_list(const ConfigTable& table, std::string_view key) const {
  table.texts(key);  // marks the key as read, checks that all are texts
  const ConfigValue* names = table.find(key);
  if (names == nullptr) throw InputError(table.place(), "key {} is missing: a list of device names", quote(key));
  std::vector<std::size_t> out;
  std::vector<bool> seen(machine.devices.size());
  for (const ConfigValue& element : std::get<ConfigList>(names->data))
    for (const std::size_t device : devices_called(as_text(element, key), element.place)) {
      if (seen[device])
        throw InputError(element.place, "device {} stands twice in {}", quote(name_of(device)), quote(key));
      seen[device] = true;
      out.push_back(device);
    }
  if (out.empty()) throw InputError(names->place, "{} names no device", quote(key));
  return out;
}

std::size_t MachineDraft::channel_called(const std::string& name, const std::string& place) const {
  if (const auto at = channel_called_.find(name); at != channel_called_.end()) return at->second;
  std::vector<std::string> names;
  for (const MachineChannel& channel : machine.channels) names.push_back(channel.name);
  throw InputError(place, "there is no channel {}{}", quote(name), did_you_mean(name, names));
}

std::size_t MachineDraft::add_channel(MachineChannel channel, const std::string& place) {
  if (!channel_called_.emplace(channel.name, machine.channels.size()).second)
    throw InputError(place, "the channel name {} is used twice", quote(channel.name));
  machine.channels.push_back(std::move(channel));
  channel_place_.push_back(place);
  channel_used_.push_back(false);
  return machine.channels.size() - 1;
}

void MachineDraft::add_route(std::size_t from, std::size_t to, std::vector<std::size_t> channels,
                             const std::string& place) {
  if (from == to) throw InputError(place, "a route joins two different devices, got {} twice", quote(name_of(from)));
  std::string& earlier = route_place_[from * machine.devices.size() + to];
  if (!earlier.empty())
    throw InputError(place, "there are two routes from {} to {}; the other one comes from {}", quote(name_of(from)),
                     quote(name_of(to)), earlier);
  earlier = place;
  for (const std::size_t channel : channels) channel_used_[channel] = true;
  machine.routes.push_back({from, to, std::move(channels)});
}

void MachineDraft::refuse_idle_channels() const {
  for (std::size_t c = 0; c < machine.channels.size(); ++c)
    if (!channel_used_[c])
      throw InputError(channel_place_[c], "channel {} serves no pair of devices and is on no [[route]]",
                       quote(machine.channels[c].name));
}

namespace {

std::string trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

// Adds a route for every ordered pair of different devices in a list such as ["cpu:0 -> gpu:0", "gpu -> gpu"].
void add_served_routes(MachineDraft& draft, const ConfigTable& table, const std::vector<std::size_t>& channels) {
  table.texts("serves");  // marks the key as read, checks that all are texts
  const ConfigValue* serves = table.find("serves");
  if (serves == nullptr) return;
  for (const ConfigValue& element : std::get<ConfigList>(serves->data)) {
    const std::string text = as_text(element, "serves");
    const std::size_t arrow = text.find("->");
    if (arrow == std::string::npos)
      throw InputError(element.place, "'serves' lists ordered pairs such as \"cpu:0 -> gpu:0\", got {}", quote(text));
    const std::string from_name = trimmed(std::string_view(text).substr(0, arrow));
    const std::string to_name = trimmed(std::string_view(text).substr(arrow + 2));
    const auto& from = draft.devices_called(from_name, element.place);
    const auto& to = draft.devices_called(to_name, element.place);
    const bool single = from.size() == 1 && to.size() == 1;
    for (const std::size_t a : from)
      for (const std::size_t b : to)
        if (a != b || single) draft.add_route(a, b, channels, element.place);
  }
}

}  // namespace

void add_channel(MachineDraft& draft, const ConfigTable& table) {
  MachineChannel channel;
  channel.name = checked_name(table, "name", "channel");
  channel.latency_s = not_negative(table, "latency_s");
  channel.bytes_per_s = positive(table, "bytes_per_s");
  channel.contention = table.flag("contention", true);
  const std::size_t id = draft.add_channel(std::move(channel), table.place());
  add_served_routes(draft, table, {id});
  table.refuse_unread();
}

void add_routes(MachineDraft& draft, const ConfigTable& table) {
  table.texts("channels");
  const ConfigValue* names = table.find("channels");
  std::vector<std::size_t> channels;
  if (names != nullptr)
    for (const ConfigValue& element : std::get<ConfigList>(names->data)) {
      const std::string name = as_text(element, "channels");
      const std::size_t channel = draft.channel_called(name, element.place);
      if (std::find(channels.begin(), channels.end(), channel) != channels.end())
        throw InputError(element.place, "channel {} stands twice on the route", quote(name));
      channels.push_back(channel);
    }
  if (channels.empty()) throw InputError(table.place(), "a [[route]] needs channels = [...], in the order travelled");
  if (table.texts("serves").empty())
    throw InputError(table.place(), "a [[route]] needs serves = [\"cpu:0 -> gpu:0\", ...]");
  add_served_routes(draft, table, channels);
  table.refuse_unread();
}

}  // namespace emplace::machine
