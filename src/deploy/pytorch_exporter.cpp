#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "deploy/device_map.hpp"
#include "deploy/device_names.hpp"
#include "deploy/exporters.hpp"
#include "deploy/segments.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/onnx/module_scopes.hpp"

namespace emplace::deploy {

namespace {

using PytorchJson = nlohmann::ordered_json;

// [{"device", "ops": [names]}] in an order in which they can run. Ops that were folded away before placing are left
// out: constants, and what changes nothing, which run wherever they are needed.
PytorchJson segments_in_order(const ModelPlacement& placement, const DeviceNames& names) {
  const std::vector<std::string> devices = placement.devices();
  std::vector<std::string> device_of_op = placement.device_of_op;
  std::ranges::replace(device_of_op, std::string(), devices.front());
  PytorchJson list = PytorchJson::array();
  for (const Segment& segment : segments_of(placement.graph, device_of_op, placement.rank_of_op)) {
    PytorchJson ops = PytorchJson::array();
    for (const OpId op : segment.ops)
      if (placement.reason_of_op[op.index()] == ModelPlacement::Reason::placed)
        ops.push_back(placement.graph.ops[op.index()].name);
    if (!ops.empty()) list.push_back({{"device", names.of(segment.device)}, {"ops", std::move(ops)}});
  }
  return list;
}

// docs/formats.md describes the file. Names are unique, so they are appended: operator[] would compare with all names.
PytorchJson file_of(const ModelPlacement& placement, const DeviceMap& map, const DeviceNames& names) {
  PytorchJson::object_t modules, split, module_of_op;
  for (const auto& [module, device] : map.device_of_module) modules.emplace_back(module, names.of(device));
  for (const auto& [module, own] : map.split_modules) {
    PytorchJson::object_t ops;
    for (const OpId op : own)
      ops.emplace_back(placement.graph.ops[op.index()].name, names.of(placement.device_of_op[op.index()]));
    split.emplace_back(module, std::move(ops));
  }
  for (std::size_t i = 0; i < map.module_of_op.size(); ++i)
    if (!map.module_of_op[i].empty() && placement.reason_of_op[i] == ModelPlacement::Reason::placed)
      module_of_op.emplace_back(placement.graph.ops[i].name, map.module_of_op[i]);
  return {{"emplace", "pytorch/1"},
          {"model", placement.model},
          {"problem", placement.problem},
          {"device_map", std::move(modules)},
          {"split_modules", std::move(split)},
          {"segments", segments_in_order(placement, names)},
          {"module_of_op", std::move(module_of_op)}};
}

std::vector<std::string> notes_of(const DeviceMap& map) {
  std::vector<std::string> notes = {
      fmt::format("device_map has {}; ops in modules with weights: {}, other ops, which a device_map runs where their "
                  "inputs are: {}",
                  counted(map.device_of_module.size(), "module"), map.ops, map.followers.size())};
  if (!map.split_modules.empty()) {
    std::vector<std::string> split;
    for (const auto& [module, own] : map.split_modules) split.push_back(module);
    notes.push_back(fmt::format(
        "device_map lacks {} whose ops or parts are on several devices: {}; split_modules has the device of each of "
        "their ops, and segments where to cut the graph (examples/python/split_placed.py)",
        counted(split.size(), "module"), listed(split)));
  }
  if (!map.elsewhere.empty())
    notes.push_back(
        fmt::format("{} without weights on another device than device_map gives their module, so that only segments "
                    "place them: {}",
                    counted(map.elsewhere.size(), "op"), listed(map.elsewhere)));
  if (!map.unnamed.empty())
    notes.push_back(fmt::format("device_map lacks {} with weights whose names do not show a module: {}",
                                counted(map.unnamed.size(), "op"), listed(map.unnamed)));
  return notes;
}

// Of each op, the path of its module by the model's file, in PyTorch's notation; "" where the file does not say.
std::vector<std::string> modules_in_file(const std::string& model, const Graph& graph) {
  const formats::ReaderEntry* reader = model.starts_with("zoo:") ? nullptr : formats::reader_of(model);
  if (reader != nullptr && reader->name == "onnx") return formats::read_onnx_modules(model);
  std::vector<std::string> modules;
  for (const GraphOp& op : graph.ops) {
    modules.push_back(op.module);
    std::ranges::replace(modules.back(), '/', '.');
  }
  return modules;
}

Exported write_pytorch(const ExportRequest& request) {
  const DeviceNames names({{"cpu", "cpu"}, {"gpu", "cuda:{}"}}, request.renamed, "PyTorch", "_-.:");
  static_cast<void>(names.of(request.placement.device_of_op));
  const std::string& model = request.placement.model;
  const DeviceMap map = device_map(request.placement, modules_in_file(model, request.placement.graph));
  const PytorchJson file = file_of(request.placement, map, names);
  write_file(request.output, file.dump(2, ' ', false, PytorchJson::error_handler_t::replace) + "\n");
  return {.files = {request.output}, .notes = notes_of(map)};
}

}  // namespace

ExportEntry pytorch_exporter() {
  ExportEntry entry;
  entry.name = "pytorch";
  entry.summary =
      "JSON with a device_map by module, and with the ops and the points at which to cut the graph where a module is "
      "split, for a program of torch.export (.pt2), or a model that PyTorch exported to ONNX with the names of its "
      "modules.";
  entry.reference = "accelerate and transformers, device_map; torch.fx, split_module";
  entry.write = write_pytorch;
  return entry;
}

}  // namespace emplace::deploy
