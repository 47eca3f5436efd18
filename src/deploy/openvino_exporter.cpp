#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "deploy/device_names.hpp"
#include "deploy/exporters.hpp"
#include "formats/writers.hpp"

namespace emplace::deploy {

namespace {

Exported write_openvino(const ExportRequest& request) {
  const DeviceNames names({{"cpu", "CPU"}, {"gpu", "GPU.{}"}, {"npu", "NPU"}}, request.renamed, "OpenVINO", "_-.");
  const std::vector<std::string> devices = names.of(request.placement.device_of_op);
  formats::write_openvino_affinity(request.placement.model, request.output, devices);
  std::vector<std::string> used;
  for (const std::string& device : devices)
    if (!device.empty() && std::ranges::find(used, device) == used.end()) used.push_back(device);
  return {.files = {request.output},
          .notes = {fmt::format(
              "the weights stay in the model's .bin; launch/run-openvino.py {} MODEL.bin runs it on HETERO:{}",
              request.output, join(used, ","))}};
}

}  // namespace

ExportEntry openvino_exporter() {
  ExportEntry entry;
  entry.name = "openvino";
  entry.summary = "The IR (.xml) with every layer's device as user data \"affinity\" in its rt_info.";
  entry.reference = "OpenVINO, heterogeneous execution (HETERO), rt_info affinity";
  entry.needs_file = true;
  entry.write = write_openvino;
  return entry;
}

}  // namespace emplace::deploy
