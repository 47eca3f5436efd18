// [[topology]]: shorthand for the channels and routes of the usual interconnects. To add a kind, add one function and
// one line in topology_kinds.
#include <fmt/core.h>

#include <optional>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "machine/parts.hpp"

namespace emplace::machine {

namespace {

struct Link {
  double latency_s;
  double bytes_per_s;
};

Link read_link(const ConfigTable& table) { return {not_negative(table, "latency_s"), positive(table, "bytes_per_s")}; }

// Devices on PCIe below one host. Copies queue as frameworks issue them: each device has one copy stream from the host,
// one to the host, and one to its peers (TensorFlow's GPU device: host_to_device, device_to_host, device_to_device), so
// each of these is one channel that belongs to one device. Transfers between peers go through the switch.
// `uplink_bytes_per_s` adds the switch's link to the host, with one channel for each direction, which all transfers to
// and from the host share.
void add_pcie_switch(MachineDraft& draft, const ConfigTable& table, const std::string& prefix) {
  const std::string& place = table.place();
  const std::size_t host = draft.device_called(table.text("host"), table.place_of("host"));
  const std::vector<std::size_t> devices = draft.device_list(table, "devices");
  const Link link = read_link(table);
  const bool peers = table.flag("peers", true);
  std::optional<std::size_t> uplink_down, uplink_up;
  if (table.contains("uplink_bytes_per_s")) {
    const double bytes_per_s = positive(table, "uplink_bytes_per_s");
    uplink_down = draft.add_channel({prefix + ":uplink:down", 0, bytes_per_s}, place);
    uplink_up = draft.add_channel({prefix + ":uplink:up", 0, bytes_per_s}, place);
  }
  for (const std::size_t device : devices) {
    const std::string& name = draft.name_of(device);
    const auto from_host =
        draft.add_channel({fmt::format("{}:{}:from-host", prefix, name), link.latency_s, link.bytes_per_s}, place);
    const auto to_host =
        draft.add_channel({fmt::format("{}:{}:to-host", prefix, name), link.latency_s, link.bytes_per_s}, place);
    using Path = std::vector<std::size_t>;
    draft.add_route(host, device, uplink_down ? Path{*uplink_down, from_host} : Path{from_host}, place);
    draft.add_route(device, host, uplink_up ? Path{to_host, *uplink_up} : Path{to_host}, place);
    if (!peers || devices.size() == 1) continue;
    const auto to_peers =
        draft.add_channel({fmt::format("{}:{}:to-peers", prefix, name), link.latency_s, link.bytes_per_s}, place);
    for (const std::size_t peer : devices)
      if (peer != device) draft.add_route(device, peer, {to_peers}, place);
  }
}

// Devices on PCIe links of unlike speed below one host (links = [{ devices = [...], latency_s, bytes_per_s }, ...]).
// Each device has one channel from the host and one to the host, with the figures of its link. A copy from device to
// device goes through the host's memory: it holds the sender's channel to the host and the receiver's channel from the
// host, so the slower link counts, and the latencies add up. `peers = false` leaves these routes out.
void add_pcie_links(MachineDraft& draft, const ConfigTable& table, const std::string& prefix) {
  const std::string& place = table.place();
  const std::size_t host = draft.device_called(table.text("host"), table.place_of("host"));
  const bool peers = table.flag("peers", true);
  struct Port {
    std::size_t device, from_host, to_host;
  };
  std::vector<Port> ports;
  std::vector<bool> seen(draft.machine.devices.size());
  for (const ConfigTable& element : table.tables("links")) {
    const Link link = read_link(element);
    const std::vector<std::size_t> devices = draft.device_list(element, "devices");
    element.refuse_unread();
    for (const std::size_t device : devices) {
      if (seen[device]) throw InputError(element.place(), "device {} is on two links", quote(draft.name_of(device)));
      seen[device] = true;
      const auto channel = [&](const char* direction) {
        return draft.add_channel(
            {fmt::format("{}:{}:{}", prefix, draft.name_of(device), direction), link.latency_s, link.bytes_per_s},
            element.place());
      };
      const std::size_t from_host = channel("from-host"), to_host = channel("to-host");
      draft.add_route(host, device, {from_host}, place);
      draft.add_route(device, host, {to_host}, place);
      ports.push_back({device, from_host, to_host});
    }
  }
  if (ports.empty())
    throw InputError(place,
                     "'links' must list at least one link, as in links = [{{ devices = [\"gpu:0\"], latency_s = 1e-5, "
                     "bytes_per_s = 2.5e10 }}]");
  if (!peers) return;
  for (const Port& from : ports)
    for (const Port& to : ports)
      if (from.device != to.device) draft.add_route(from.device, to.device, {from.to_host, to.from_host}, place);
}

// All-to-all: a separate channel for each ordered pair.
void add_nvlink(MachineDraft& draft, const ConfigTable& table, const std::string& prefix) {
  const std::vector<std::size_t> devices = draft.device_list(table, "devices");
  const Link link = read_link(table);
  for (const std::size_t from : devices)
    for (const std::size_t to : devices) {
      if (from == to) continue;
      const auto channel =
          draft.add_channel({fmt::format("{}:{}-to-{}", prefix, draft.name_of(from), draft.name_of(to)), link.latency_s,
                             link.bytes_per_s},
                            table.place());
      draft.add_route(from, to, {channel}, table.place());
    }
}

// A crossbar such as NVSwitch: each device has one port out and one port in, which all its peers share. A transfer
// holds the sender's port out and the receiver's port in; the latency counts once, on the port out.
void add_switch(MachineDraft& draft, const ConfigTable& table, const std::string& prefix) {
  const std::vector<std::size_t> devices = draft.device_list(table, "devices");
  const Link link = read_link(table);
  if (devices.size() == 1) return;
  std::vector<std::size_t> out, in;
  for (const std::size_t device : devices) {
    const auto name = [&](const char* port) { return fmt::format("{}:{}:{}", prefix, draft.name_of(device), port); };
    out.push_back(draft.add_channel({name("out"), link.latency_s, link.bytes_per_s}, table.place()));
    in.push_back(draft.add_channel({name("in"), 0, link.bytes_per_s}, table.place()));
  }
  for (std::size_t a = 0; a < devices.size(); ++a)
    for (std::size_t b = 0; b < devices.size(); ++b)
      if (a != b) draft.add_route(devices[a], devices[b], {out[a], in[b]}, table.place());
}

// Hosts with one NIC each (hosts = [{ devices = [...] }, ...]): a transfer holds the sender's egress and the receiver's
// ingress. The latency counts once, on the egress.
void add_ethernet(MachineDraft& draft, const ConfigTable& table, const std::string& prefix) {
  const Link link = read_link(table);
  struct Host {
    std::vector<std::size_t> devices;
    std::size_t egress, ingress;
  };
  std::vector<Host> hosts;
  std::vector<bool> seen(draft.machine.devices.size());
  for (const ConfigTable& element : table.tables("hosts")) {
    Host host{draft.device_list(element, "devices"), 0, 0};
    element.refuse_unread();
    for (const std::size_t device : host.devices) {
      if (seen[device]) throw InputError(element.place(), "device {} is in two hosts", quote(draft.name_of(device)));
      seen[device] = true;
    }
    const auto name = [&](const char* direction) { return fmt::format("{}:{}:{}", prefix, hosts.size(), direction); };
    host.egress = draft.add_channel({name("egress"), link.latency_s, link.bytes_per_s}, table.place());
    host.ingress = draft.add_channel({name("ingress"), 0, link.bytes_per_s}, table.place());
    hosts.push_back(std::move(host));
  }
  if (hosts.size() < 2)
    throw InputError(table.place_of("hosts"),
                     "'hosts' must list at least two hosts, as in hosts = [{{ devices = [\"cpu:0\"] }}, {{ devices = "
                     "[\"cpu:1\"] }}], got {}",
                     hosts.size());
  for (const Host& a : hosts)
    for (const Host& b : hosts) {
      if (&a == &b) continue;
      for (const std::size_t from : a.devices)
        for (const std::size_t to : b.devices) draft.add_route(from, to, {a.egress, b.ingress}, table.place());
    }
}

}  // namespace

std::span<const TopologyKind> topology_kinds() {
  static const std::vector<TopologyKind> kinds = {
      {"pcie-switch", add_pcie_switch}, {"pcie-links", add_pcie_links}, {"nvlink", add_nvlink},
      {"switch", add_switch},           {"ethernet", add_ethernet},
  };
  return kinds;
}

void add_topology(MachineDraft& draft, const ConfigTable& table) {
  const std::string kind = table.text("kind");
  const std::string prefix = table.contains("name") ? checked_name(table, "name", "topology") : kind;
  for (const TopologyKind& known : topology_kinds())
    if (known.name == kind) {
      known.add(draft, table, prefix);
      table.refuse_unread();
      return;
    }
  std::vector<std::string> names;
  for (const TopologyKind& known : topology_kinds()) names.push_back(known.name);
  const std::string near = did_you_mean(kind, names);
  throw InputError(table.place_of("kind"), "unknown topology {}{}", quote(kind),
                   near.empty() ? fmt::format("; there are: {}", join(names, ", ")) : near);
}

}  // namespace emplace::machine
