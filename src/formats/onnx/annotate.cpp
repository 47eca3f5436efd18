// Copies an ONNX file with a few texts changed. Field numbers: onnx.proto.
#include <fmt/core.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <span>

#include "base/files.hpp"
#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/byte_edits.hpp"
#include "formats/onnx/external.hpp"
#include "formats/proto/fields.hpp"
#include "formats/writers.hpp"

namespace emplace::formats {

namespace {

constexpr std::uint32_t node_field = 1, model_graph_field = 7, doc_string_field = 6, node_metadata_field = 9,
                        model_metadata_field = 14;
constexpr std::string_view device_line = "emplace device: ", our_keys = "emplace.", layer_key = "layer_ann";

std::string metadata_entry(std::uint32_t field, std::string_view key, std::string_view value) {
  return proto_field(field, proto_field(1, key) + proto_field(2, value));
}

class NodeEditFinder {
 public:
  NodeEditFinder(const std::string& model, const OnnxAnnotations& annotations)
      : in_(model, "an ONNX model"), model_(model), annotations_(annotations) {}

  // Returns the edits in the order of the file.
  std::vector<ByteEdit> run() {
    in_.each([&](const ProtoPlace& field) {
      if (!field.has_length) return;
      if (field.number == model_graph_field) return in_.edit(field, edits_, [&] { edit_graph(); });
      if (field.number != model_metadata_field) return in_.skip(field);
      if (key_of(field).starts_with(our_keys)) erase(field);
    });
    if (node_ != annotations_.device_of_node.size())
      throw InputError(model_, "has {} nodes now; {} were read before", node_, annotations_.device_of_node.size());
    std::string tail;
    for (const auto& [key, value] : annotations_.metadata) tail += metadata_entry(model_metadata_field, key, value);
    if (!tail.empty()) edits_.push_back({in_.file_size(), 0, std::move(tail)});
    return std::move(edits_);
  }

 private:
  std::string key_of(const ProtoPlace& field) {
    onnx::StringStringEntryProto entry;
    return entry.ParseFromString(in_.read(field)) ? entry.key() : "";
  }
  void erase(const ProtoPlace& field) { edits_.push_back({field.begin, field.end - field.begin, ""}); }

  void edit_graph() {
    in_.each([&](const ProtoPlace& field) {
      if (!field.has_length) return;
      if (field.number == node_field)
        in_.edit(field, edits_, [&] { edit_node(field.end); });
      else
        in_.skip(field);
    });
  }

  void edit_node(std::int64_t end) {
    const std::string device = text_at(annotations_.device_of_node), layer = text_at(annotations_.layer_of_node);
    ++node_;
    std::string text;                 // the last doc_string, which protobuf uses if there are several
    std::vector<std::int64_t> texts;  // bytes at which the doc_strings begin
    const auto first = static_cast<std::ptrdiff_t>(edits_.size());
    in_.each([&](const ProtoPlace& field) {
      if (!field.has_length) return;
      if (field.number == doc_string_field) {
        text = in_.read(field);
        texts.push_back(field.begin);
        erase(field);
      } else if (field.number == node_metadata_field && !layer.empty()) {
        if (key_of(field) == layer_key) erase(field);
      } else {
        in_.skip(field);
      }
    });
    std::string rest = text;
    if (text.starts_with(device_line)) rest.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
    std::string wanted = device.empty() ? rest : fmt::format("{}{}", device_line, device);
    if (!device.empty() && !rest.empty()) wanted += "\n" + rest;
    std::string added;
    if (wanted == text)
      edits_.erase(
          std::remove_if(edits_.begin() + first, edits_.end(),
                         [&](const ByteEdit& edit) { return std::ranges::find(texts, edit.at) != texts.end(); }),
          edits_.end());
    else if (!wanted.empty())
      added = proto_field(doc_string_field, wanted);
    if (!layer.empty()) added += metadata_entry(node_metadata_field, layer_key, layer);
    if (!added.empty()) edits_.push_back({end, 0, std::move(added)});
  }

  [[nodiscard]] std::string text_at(const std::vector<std::string>& texts) const {
    return node_ < texts.size() ? texts[node_] : "";
  }

  ProtoFields in_;
  const std::string& model_;
  const OnnxAnnotations& annotations_;
  std::size_t node_ = 0;
  std::vector<ByteEdit> edits_;
};

}  // namespace

void write_annotated_onnx(const std::string& model, const std::string& output, const OnnxAnnotations& annotations) {
  check_reader(model, "onnx", "an ONNX model");
  check_weights_stay_beside(model, std::span(&output, 1));
  const std::vector<ByteEdit> edits = NodeEditFinder(model, annotations).run();
  std::int64_t size = static_cast<std::int64_t>(std::filesystem::file_size(model));
  for (const ByteEdit& edit : edits) size += edit.growth();
  if (size > std::numeric_limits<int>::max())
    throw InputError(output, "would have {} bytes; an ONNX file has less than 2 GiB", size);
  FileWriter out(output);
  copy_with_edits(model, out, edits);
  out.finish();
}

}  // namespace emplace::formats
