#include "deploy/model_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/files.hpp"
#include "base/text.hpp"
#include "cost/lower.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/problem_json.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/problem/builder.hpp"
#include "formats/json/placement_devices.hpp"

namespace emplace::deploy {

namespace {

// A Problem with the ops of the graph and the devices that the placement names, all costs 0. The placement can be read
// and checked with it without a machine.
Problem problem_to_read_against(const Graph& graph, const std::map<std::string, std::string>& device_of_op,
                                const std::string& file) {
  std::set<std::string> devices;
  for (const auto& [op, device] : device_of_op) devices.insert(device);
  if (devices.size() > max_devices)
    throw InputError(file, "names {} devices; a machine has at most {}", devices.size(), max_devices);
  if (devices.empty()) devices.insert("none");  // the error then comes from the reader

  ProblemBuilder builder(graph.name);
  for (const std::string& device : devices) builder.add_device({device, "", no_memory_limit}, file);
  for (const GraphOp& op : graph.ops) {
    OpSpec spec;
    spec.name = op.name;
    spec.seconds.assign(devices.size(), 0);
    builder.add_op(std::move(spec));
  }
  for (const GraphTensor& tensor : graph.tensors)
    if (!tensor.producer.is_none()) builder.add_tensor(tensor.producer, 0, tensor.consumers);
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    for (const OpId before : graph.ops[i].after) builder.add_tensor(before, 0, {OpId{i}});
  return builder.build(file);
}

// Calls read_placement_json, whose InputError names the first wrong op. If ops of the graph are missing in the
// placement or it has other ones, the message also names the options that define the graph's ops.
formats::PlacementFile read_placement(const Graph& graph, const std::string& text, const std::string& file,
                                      const std::map<std::string, std::string>& device_of_op, const Problem& problem) {
  try {
    return formats::read_placement_json(text, file, problem);
  } catch (const InputError& error) {
    if (device_of_op.size() == graph.ops.size() &&
        std::ranges::all_of(graph.ops, [&](const GraphOp& op) { return device_of_op.contains(op.name); }))
      throw;
    throw InputError(
        fmt::format("{}; the placement is of another model, or the graph was made with other options: give --training, "
                    "--optimizer, --fuse, --batch and --shape as they were then, or its run's folder, which also has "
                    "the other passes (roofline.coarsen, ...)",
                    error.what()));
  }
}

// Sets the device of ops that were folded away: first that of their co-location group; then, backwards over the graph,
// so that a chain of them gets the device of its last reader, that of an op that reads them; then, forwards, for ops
// without a reader, that of an op that they read.
void follow_neighbours(ModelPlacement& placement) {
  const Graph& graph = placement.graph;
  const std::vector<OpId> order = graph.topological_order(placement.model);
  const auto follow = [&](OpId op, OpId neighbour) {
    const std::string& device = placement.device_of_op[neighbour.index()];
    if (device.empty() || placement.reason_of_op[op.index()] != ModelPlacement::Reason::none) return;
    placement.device_of_op[op.index()] = device;
    placement.reason_of_op[op.index()] = ModelPlacement::Reason::follows;
  };
  // Frameworks keep the co-location groups of the file together.
  std::unordered_map<std::string_view, OpId> placed_of_group;
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (!graph.ops[i].colocate.empty() && placement.reason_of_op[i] == ModelPlacement::Reason::placed)
      placed_of_group.emplace(graph.ops[i].colocate, OpId{i});
  for (std::size_t i = 0; i < graph.ops.size(); ++i)
    if (const auto member = placed_of_group.find(graph.ops[i].colocate); member != placed_of_group.end())
      follow(OpId{i}, member->second);
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    for (const TensorId output : graph.ops[at->index()].outputs)
      for (const OpId reader : graph.tensors[output.index()].consumers) follow(*at, reader);
  }
  for (const OpId op : order) {
    for (const Operand& input : graph.ops[op.index()].inputs)
      if (input.is_tensor())
        if (const OpId producer = graph.tensors[input.index].producer; !producer.is_none()) follow(op, producer);
    for (const OpId before : graph.ops[op.index()].after) follow(op, before);
  }
}

}  // namespace

std::vector<std::string> ModelPlacement::devices() const {
  std::vector<std::string> names;
  for (const std::string& device : device_of_op)
    if (!device.empty() && std::ranges::find(names, device) == names.end()) names.push_back(device);
  return names;
}

std::vector<OpId> ModelPlacement::not_in_model() const {
  std::vector<OpId> added;
  const auto origins = passed.origins();
  for (std::size_t i = 0; i < origins.size(); ++i)
    if (origins[i].empty()) added.emplace_back(i);
  return added;
}

std::vector<std::string> ModelPlacement::device_in_plan() const {
  const Graph& placed = passed.graph;
  const std::vector<OpId> added = not_in_model();
  std::vector<bool> is_added(placed.ops.size());
  for (const OpId op : added) is_added[op.index()] = true;
  std::vector<std::string> plan = device_of_placed;
  const auto follow_first_reader_in_model = [&](OpId weight) {
    for (const TensorId output : placed.ops[weight.index()].outputs)
      for (const OpId reader : placed.tensors[output.index()].consumers)
        if (!is_added[reader.index()]) {
          plan[weight.index()] = device_of_placed[reader.index()];
          return;
        }
  };
  for (const OpId op : added)
    if (placed.ops[op.index()].type == "Variable") follow_first_reader_in_model(op);
  for (const OpId op : added) {
    const GraphOp& of = placed.ops[op.index()];
    if (of.forward_of.is_none()) continue;
    const OpId weight = of.phase == Phase::update && !of.inputs.empty() && of.inputs.front().is_tensor()
                            ? placed.tensors[of.inputs.front().index].producer
                            : OpId{};
    plan[op.index()] = plan[(weight.is_none() ? of.forward_of : weight).index()];
  }
  return plan;
}

void ModelPlacement::refuse_to_replace(std::span<const std::string> outputs) const {
  std::error_code ignored;
  const auto exists = [&](const std::string& output) { return std::filesystem::exists(output, ignored); };
  if (std::ranges::none_of(outputs, exists)) return;
  const std::vector<std::string> needed =
      model.starts_with("zoo:") ? std::vector<std::string>() : formats::files_of_model(model);
  for (const std::string& output : outputs) {
    const auto refuse = [&](const std::string& input, const char* what) {
      if (std::filesystem::equivalent(input, output, ignored))
        throw InputError(output, "is {}, and would be lost", what);
    };
    refuse(file, "the placement itself");
    for (const std::string& part : needed)
      refuse(part, part == model ? "the model itself" : "a file of the model's weights");
  }
}

ModelPlacement read_model_placement(const std::string& model, const source::SourceOptions& options,
                                    const std::string& placement_file) {
  ModelPlacement result;
  result.model = model;
  result.file = placement_file;
  result.graph = source::load_graph(model, options.read);
  result.passed = cost::apply_passes(result.graph, options.roofline, model);

  const std::string text = read_file(placement_file);
  const auto device_of_op = formats::devices_of_placement_json(text, placement_file);
  const Problem problem = problem_to_read_against(result.passed.graph, device_of_op, placement_file);
  const formats::PlacementFile read = read_placement(result.passed.graph, text, placement_file, device_of_op, problem);
  for (const std::uint8_t device : read.placement.device)
    result.device_of_placed.push_back(problem.devices[device].name);
  result.problem = read.problem_name;
  if (read.schedule) result.schedule = name_of(*read.schedule);

  for (const OpId now : result.passed.became) {
    using enum ModelPlacement::Reason;
    result.device_of_op.push_back(now.is_none() ? "" : result.device_of_placed[now.index()]);
    result.reason_of_op.push_back(now.is_none() ? none : placed);
  }
  if (const std::vector<std::uint32_t>& order = read.placement.order; !order.empty()) {
    std::vector<std::uint32_t> rank(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i + 1;
    for (const OpId now : result.passed.became) result.rank_of_op.push_back(now.is_none() ? 0 : rank[now.index()]);
  }
  follow_neighbours(result);
  return result;
}

}  // namespace emplace::deploy
