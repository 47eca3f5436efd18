// The entries that builtin.cpp lists.
#pragma once

#include "deploy/exporter.hpp"

namespace emplace::deploy {

ExportEntry json_exporter();
ExportEntry onnx_exporter();
ExportEntry openvino_exporter();
ExportEntry pytorch_exporter();
ExportEntry tensorflow_exporter();

}  // namespace emplace::deploy
