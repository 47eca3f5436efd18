#include "exporters.hpp"

namespace emplace {

std::span<const ExportEntry> exporters() {
  static const std::vector<ExportEntry> entries = {onnx_exporter(), openvino_exporter(), tensorflow_exporter(),
                                                   pytorch_exporter(), json_exporter()};
  return entries;
}

}  // namespace emplace
