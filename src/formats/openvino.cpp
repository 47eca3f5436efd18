// OpenVINO IR (https://docs.openvino.ai, "Intermediate Representation"), versions 5 to 11: one op a layer. The .bin
// with the weights is not needed: Const layers and <blobs> give its sizes.
#include "openvino.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/text.hpp"
#include "openvino_graph.hpp"

namespace emplace {

namespace {

constexpr std::uint64_t largest_file = std::uint64_t{1} << 30;
constexpr std::size_t largest_memory = std::size_t{4} << 30;

Graph read_openvino(const std::string& path, const ReadOptions& options) {
  std::string text = read_file(path, largest_file);
  // What pugixml will allocate: a node an element, an attribute an equals sign. It never expands entities of a DTD.
  const auto elements = static_cast<std::size_t>(std::count(text.begin(), text.end(), '<'));
  const auto attributes = static_cast<std::size_t>(std::count(text.begin(), text.end(), '='));
  if (elements * sizeof(void*) * 8 + attributes * sizeof(void*) * 5 > largest_memory)
    throw InputError(path, "is too large: {} elements and {} attributes", elements, attributes);
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer_inplace(
      text.data(), text.size(), pugi::parse_minimal | pugi::parse_escapes | pugi::parse_embed_pcdata,
      pugi::encoding_utf8);
  if (!parsed)
    throw InputError(path, "is not valid XML, or is truncated: {}, at byte {}", parsed.description(), parsed.offset);
  const pugi::xml_node net = document.child("net");
  if (!net)
    throw InputError(path, "is no OpenVINO IR: its root is {}, not <net>", quote(document.first_child().name()));
  const std::string_view version = net.attribute("version").value();
  std::int64_t number = 0;
  if (!parse_number(version, number) || number < 5 || number > 11)
    throw InputError(path, "is OpenVINO IR of version {}; versions 5 to 11 are read", quote(version));
  return GraphFromIr(net, path, options).build();
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
  return entry;
}

}  // namespace emplace
