#include "deploy/device_names.hpp"
#include "deploy/exporters.hpp"
#include "formats/writers.hpp"

namespace emplace::deploy {

namespace {

Exported write_tensorflow(const ExportRequest& request) {
  const DeviceNames names({{"cpu", "/device:CPU:{}"}, {"gpu", "/device:GPU:{}"}, {"tpu", "/device:TPU:{}"}},
                          request.renamed, "TensorFlow", "_-.:/*");
  formats::write_graphdef_devices(request.placement.model, request.output, names.of(request.placement.device_of_op));
  return {.files = {request.output}, .notes = {}};
}

}  // namespace

ExportEntry tensorflow_exporter() {
  ExportEntry entry;
  entry.name = "tensorflow";
  entry.summary = "The GraphDef (.pb or .pbtxt, as it was) with a device string in every node.";
  entry.reference = "TensorFlow node_def.proto, field device";
  entry.needs_file = true;
  entry.write = write_tensorflow;
  return entry;
}

}  // namespace emplace::deploy
