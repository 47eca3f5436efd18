// Reads OpenVINO IR (https://docs.openvino.ai, "Intermediate Representation"), versions 5 to 11: one op for each layer.
// The .bin with the weights is not needed, because Const layers and <blobs> give the sizes. If it is there, small
// constants of whole numbers are read, since sizes of tensors may follow from them.
#include "formats/openvino/openvino.hpp"

#include "formats/openvino/graph.hpp"
#include "formats/openvino/xml.hpp"

namespace emplace::formats {

namespace {

Graph read_openvino(const std::string& path, const ReadOptions& options) {
  const OpenvinoXml xml(path);
  return GraphFromIr(xml.net(), path, options).build();
}

}  // namespace

ReaderEntry openvino_reader() {
  ReaderEntry entry;
  entry.name = "openvino";
  entry.summary = "OpenVINO IR (.xml), versions 5 to 11; the .bin with the weights may be missing.";
  entry.reference = "OpenVINO Intermediate Representation";
  entry.recognises = [](const std::string& path, std::string_view head) {
    return path.ends_with(".xml") || head.find("<net ") != std::string_view::npos;
  };
  entry.read = read_openvino;
  entry.weights_beside = [](const std::string& path) { return std::vector{GraphFromIr::weights_of(path)}; };
  return entry;
}

}  // namespace emplace::formats
