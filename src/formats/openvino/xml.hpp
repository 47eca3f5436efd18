// Parses the XML of an OpenVINO IR, in bounded memory.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace emplace::formats {

class OpenvinoXml {
 public:
  // InputError if the file is no XML, no IR of versions 5 to 11, larger than 1 GiB, or would need more than 4 GiB.
  explicit OpenvinoXml(const std::string& path);

  [[nodiscard]] pugi::xml_node net() const { return document_.child("net"); }
  [[nodiscard]] std::string_view text() const { return text_; }  // the whole file; offsets of nodes refer to this text

 private:
  std::string text_;
  pugi::xml_document document_;
};

}  // namespace emplace::formats
