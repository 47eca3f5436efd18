#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "deploy/device_map.hpp"
#include "deploy/device_names.hpp"
#include "deploy/exporters.hpp"

namespace emplace::deploy {

namespace {

Exported write_pytorch(const ExportRequest& request) {
  const DeviceNames names({{"cpu", "cpu"}, {"gpu", "cuda:{}"}}, request.renamed, "PyTorch", "_-.:");
  static_cast<void>(names.of(request.placement.device_of_op));
  const DeviceMap map = device_map(request.placement);
  nlohmann::ordered_json::object_t modules;  // appended: operator[] would compare with all names
  for (const auto& [module, device] : map.device_of_module) modules.emplace_back(module, names.of(device));
  const nlohmann::ordered_json file = std::move(modules);
  write_file(request.output, file.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  Exported exported{.files = {request.output},
                    .notes = {fmt::format(
                        "{} with weights in {} of the map, and {} without weights, which run where their inputs are",
                        counted(map.ops, "op"), counted(map.device_of_module.size(), "module"),
                        counted(map.followers.size(), "op"))}};
  if (!map.unnamed.empty())
    exported.notes.push_back(fmt::format("the map lacks {} with weights whose names do not show a module: {}",
                                         counted(map.unnamed.size(), "op"), listed(map.unnamed)));
  return exported;
}

}  // namespace

ExportEntry pytorch_exporter() {
  ExportEntry entry;
  entry.name = "pytorch";
  entry.summary =
      "A device_map by module as JSON, for a model that PyTorch exported to ONNX with the names of its modules.";
  entry.reference = "accelerate and transformers, device_map";
  entry.write = write_pytorch;
  return entry;
}

}  // namespace emplace::deploy
