#include <fmt/format.h>

#include "deploy/device_names.hpp"
#include "deploy/exporters.hpp"
#include "formats/writers.hpp"

namespace emplace::deploy {

namespace {

Exported write_openvino(const ExportRequest& request) {
  const DeviceNames names({{"cpu", "CPU"}, {"gpu", "GPU.{}"}, {"npu", "NPU"}}, request.renamed, "OpenVINO", "_-.");
  const std::vector<std::string> devices = names.of(request.placement.device_of_op);
  formats::write_openvino_affinity(request.placement.model, request.output, devices);
  return {
      .files = {request.output},
      .notes = {fmt::format("the weights stay in the model's .bin; OpenVINO does not read affinities from the file: "
                            "launch/run-openvino.py {} --model {} sets them and runs the model",
                            request.placement.file, request.placement.model)}};
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
