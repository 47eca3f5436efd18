// The placement that the papers' human experts would give a zoo model.
#include <unordered_map>

#include "base/query.hpp"
#include "source/expert.hpp"
#include "zoo/zoo.hpp"

namespace emplace::source {

namespace {

// The experts of the papers distribute a model over equal accelerators: the devices of one kind.
std::vector<std::uint8_t> equal_devices(const Problem& problem) {
  std::string kind;
  bool found = false;
  for (const Device& device : problem.devices) {
    if (device.kind == "cpu" || (found && device.kind != "gpu")) continue;
    kind = device.kind;
    found = true;
  }
  std::vector<std::uint8_t> devices;
  for (std::size_t d = 0; d < problem.device_count(); ++d)
    if (!found || problem.devices[d].kind == kind) devices.push_back(static_cast<std::uint8_t>(d));
  return devices;
}

}  // namespace

std::vector<std::uint8_t> expert_devices(std::string_view zoo_model, const Graph& lowered, const Problem& problem) {
  const std::string name = parse_query(zoo_model, std::string(zoo_model)).name;
  const std::vector<std::uint8_t> devices = equal_devices(problem);
  const std::vector<std::string> layers = zoo::layers_of(lowered);
  const std::vector<std::size_t> place = find_entry(zoo::zoo(), name, "model").expert(layers, devices.size());
  std::unordered_map<std::string_view, std::uint8_t> of_layer;
  for (std::size_t i = 0; i < layers.size(); ++i) of_layer.emplace(layers[i], devices.at(place[i]));
  std::vector<std::uint8_t> of_op;
  of_op.reserve(lowered.ops.size());
  for (const GraphOp& op : lowered.ops) of_op.push_back(of_layer.at(op.layer));
  return of_op;
}

}  // namespace emplace::source
