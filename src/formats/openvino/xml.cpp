#include "formats/openvino/xml.hpp"

#include <algorithm>
#include <cstdint>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

constexpr std::uint64_t largest_xml_file = std::uint64_t{1} << 30;
constexpr std::size_t largest_xml_memory = std::size_t{4} << 30;

}  // namespace

OpenvinoXml::OpenvinoXml(const std::string& path) : text_(read_file(path, largest_xml_file)) {
  // Estimates the memory of pugixml: a node for each element, an attribute for each equals sign. pugixml never expands
  // entities of a DTD.
  const auto elements = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '<'));
  const auto attributes = static_cast<std::size_t>(std::count(text_.begin(), text_.end(), '='));
  if (elements * sizeof(void*) * 8 + attributes * sizeof(void*) * 5 + text_.size() > largest_xml_memory)
    throw InputError(path, "is too large: {} elements and {} attributes", elements, attributes);
  const pugi::xml_parse_result parsed =
      document_.load_buffer(text_.data(), text_.size(),
                            pugi::parse_minimal | pugi::parse_escapes | pugi::parse_embed_pcdata, pugi::encoding_utf8);
  if (!parsed)
    throw InputError(path, "is not valid XML, or is truncated: {}, at byte {}", parsed.description(), parsed.offset);
  if (!net())
    throw InputError(path, "is no OpenVINO IR: its root is {}, not <net>", quote(document_.first_child().name()));
  const std::string_view version = net().attribute("version").value();
  std::int64_t number = 0;
  if (!parse_number(version, number) || number < 5 || number > 11)
    throw InputError(path, "is OpenVINO IR of version {}; versions 5 to 11 are read", quote(version));
}

}  // namespace emplace::formats
