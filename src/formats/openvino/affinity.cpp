// Copies an OpenVINO IR with a device for each layer.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/byte_edits.hpp"
#include "formats/openvino/xml.hpp"
#include "formats/writers.hpp"

namespace emplace::formats {

namespace {

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

class LayerEditFinder {
 public:
  LayerEditFinder(const std::string& file, const OpenvinoXml& xml) : file_(file), text_(xml.text()), net_(xml.net()) {}

  std::vector<ByteEdit> run(const std::vector<std::string>& device_of_layer) {
    std::size_t i = 0;
    for (const pugi::xml_node& layer : net_.child("layers").children()) {
      if (i == device_of_layer.size()) fail();
      edit_layer(layer, device_of_layer[i++]);
    }
    if (i != device_of_layer.size()) fail();
    return std::move(edits_);
  }

 private:
  struct Tag {
    std::int64_t begin, end;  // "<name ...>"
    bool closes;              // "<name .../>"
  };

  [[noreturn]] void fail() const {
    throw InputError(file_, "has changed since it was read: the number of layers differs");
  }

  [[nodiscard]] Tag tag_of(const pugi::xml_node& node) const {
    const auto name = static_cast<std::size_t>(node.offset_debug());
    EMPLACE_CHECK(name > 0 && text_.substr(name).starts_with(node.name()), "an element is not at its recorded offset");
    char quote = 0;
    for (std::size_t at = name; at < text_.size(); ++at) {
      const char c = text_[at];
      if (quote != 0)
        quote = c == quote ? '\0' : quote;
      else if (c == '"' || c == '\'')
        quote = c;
      else if (c == '>')
        return {static_cast<std::int64_t>(name) - 1, static_cast<std::int64_t>(at) + 1, text_[at - 1] == '/'};
    }
    throw BugError("a tag that was parsed before does not end");
  }

  // Inserts the content right after the opening tag of `node`.
  void insert_into(const pugi::xml_node& node, const std::string& content) {
    const Tag tag = tag_of(node);
    if (tag.closes)
      edits_.push_back({tag.end - 2, 2, fmt::format(">{}</{}>", content, node.name())});
    else
      edits_.push_back({tag.end, 0, content});
  }

  // Removes the <user_data> that an earlier run wrote; the new one becomes the first child of <rt_info>.
  void edit_layer(const pugi::xml_node& layer, const std::string& device) {
    const std::string wanted =
        device.empty() ? ""
                       : fmt::format(R"(<user_data name="affinity" version="0" value="{}"/>)", xml_escaped(device));
    const pugi::xml_node info = layer.child("rt_info");
    if (!wanted.empty()) {
      if (info)
        insert_into(info, wanted);
      else
        insert_into(layer, "<rt_info>" + wanted + "</rt_info>");
    }
    for (const pugi::xml_node& data : info.children("user_data"))
      if (std::strcmp(data.attribute("name").value(), "affinity") == 0) {
        const Tag tag = tag_of(data);
        if (!tag.closes) throw InputError(file_, "a <user_data> has content, which no program writes");
        edits_.push_back({tag.begin, tag.end - tag.begin, ""});
      }
  }

  const std::string& file_;
  const std::string_view text_;
  const pugi::xml_node net_;
  std::vector<ByteEdit> edits_;
};

}  // namespace

void write_openvino_affinity(const std::string& model, const std::string& output,
                             const std::vector<std::string>& device_of_layer) {
  check_reader(model, "openvino", "an OpenVINO IR");
  const OpenvinoXml xml(model);
  const std::vector<ByteEdit> edits = LayerEditFinder(model, xml).run(device_of_layer);
  FileWriter out(output);
  copy_with_edits(model, out, edits);
  out.finish();
}

}  // namespace emplace::formats
