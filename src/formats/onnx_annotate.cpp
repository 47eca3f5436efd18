// Copies an ONNX file with a few texts changed: one pass over protobuf's wire format finds the places, a second copies
// all other bytes as they are. Field numbers: onnx.proto.
#include <fmt/core.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "emplace/base/error.hpp"
#include "emplace/base/files.hpp"
#include "emplace/base/text.hpp"
#include "emplace/formats/reader.hpp"
#include "emplace/formats/writers.hpp"
#include "input_file.hpp"
#include "onnx_load.hpp"

namespace emplace {

namespace {

using google::protobuf::io::CodedInputStream;

constexpr std::uint32_t node_field = 1, graph_field = 7, doc_string_field = 6, metadata_field = 14;
constexpr std::uint32_t longest_text = 16U << 20;
constexpr std::string_view device_line = "emplace device: ", our_keys = "emplace.";

std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string text_field(std::uint32_t number, std::string_view text) {
  return varint(number << 3 | 2) + varint(text.size()) + std::string(text);
}

// At byte `at` of the file `erase` bytes go and `insert` comes.
struct Edit {
  std::int64_t at;
  std::int64_t erase;
  std::string insert;
  [[nodiscard]] std::int64_t growth() const { return static_cast<std::int64_t>(insert.size()) - erase; }
};

class EditFinder {
 public:
  EditFinder(CodedInputStream& in, const std::string& file, const std::vector<std::string>& device_of_node)
      : in_(in), file_(file), device_of_node_(device_of_node) {}

  // In the order of the file.
  std::vector<Edit> run() {
    each_field([&](const Field& field) {
      if (field.number == graph_field) return edit_message(field, [&] { edit_graph(); });
      if (field.number != metadata_field) return skip(field);
      onnx::StringStringEntryProto entry;
      if (entry.ParseFromString(read(field)) && entry.key().starts_with(our_keys))
        edits_.push_back({field.begin, field.end() - field.begin, ""});
    });
    if (node_ != device_of_node_.size())
      throw InputError(file_, "has {} nodes now; {} were read before", node_, device_of_node_.size());
    return std::move(edits_);
  }

 private:
  struct Field {
    std::uint32_t number;
    std::int64_t begin, length_at, content;  // where the tag, the length and the content begin
    std::int64_t length;
    [[nodiscard]] std::int64_t end() const { return content + length; }
  };

  [[noreturn]] void fail() const {
    throw InputError(file_, "is not an ONNX model, or is truncated or damaged: at byte {}", in_.CurrentPosition());
  }

  // visit(field) for fields that have a length, whose content it must read or skip; the others pass by.
  template <class Visit>
  void each_field(Visit&& visit) {
    while (in_.BytesUntilLimit() > 0) {
      Field field{};
      field.begin = in_.CurrentPosition();
      const std::uint32_t tag = in_.ReadTag();
      std::uint64_t value = 0;
      std::uint32_t word = 0;
      bool good = tag >> 3 != 0;
      field.number = tag >> 3;
      field.length_at = in_.CurrentPosition();
      switch (tag & 7) {
        case 0:
        case 2: good = good && in_.ReadVarint64(&value); break;
        case 1: good = good && in_.ReadLittleEndian64(&value); break;
        case 5: good = good && in_.ReadLittleEndian32(&word); break;
        default: good = false;
      }
      if (!good) fail();
      if ((tag & 7) != 2) continue;
      if (value > static_cast<std::uint64_t>(in_.BytesUntilLimit())) fail();
      field.content = in_.CurrentPosition();
      field.length = static_cast<std::int64_t>(value);
      visit(field);
    }
  }

  void skip(const Field& field) {
    if (!in_.Skip(static_cast<int>(field.length))) fail();
  }

  std::string read(const Field& field) {
    if (field.length > longest_text)
      throw InputError(file_, "has a text of {} bytes at byte {}", field.length, field.begin);
    std::string content;
    if (!in_.ReadString(&content, static_cast<int>(field.length))) fail();
    return content;
  }

  // Runs `inside` on the content and corrects the length by what the edits inside add.
  template <class Inside>
  void edit_message(const Field& field, Inside&& inside) {
    const std::size_t first = edits_.size();
    edits_.push_back({field.length_at, field.content - field.length_at, ""});
    const CodedInputStream::Limit outer = in_.PushLimit(static_cast<int>(field.length));
    inside();
    in_.PopLimit(outer);
    if (edits_.size() == first + 1) return edits_.pop_back();
    std::int64_t length = field.length;
    for (std::size_t i = first + 1; i < edits_.size(); ++i) length += edits_[i].growth();
    edits_[first].insert = varint(static_cast<std::uint64_t>(length));
  }

  void edit_graph() {
    each_field([&](const Field& field) {
      if (field.number == node_field)
        edit_message(field, [&] { edit_node(field.end()); });
      else
        skip(field);
    });
  }

  void edit_node(std::int64_t end) {
    std::string text;  // of the last doc_string: protobuf takes that one
    std::size_t found = 0;
    each_field([&](const Field& field) {
      if (field.number != doc_string_field) return skip(field);
      text = read(field);
      ++found;
      edits_.push_back({field.begin, field.end() - field.begin, ""});
    });
    const std::string device = node_ < device_of_node_.size() ? device_of_node_[node_] : "";
    ++node_;
    std::string rest = text;
    if (text.starts_with(device_line)) rest.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
    std::string wanted = device.empty() ? rest : fmt::format("{}{}", device_line, device);
    if (!device.empty() && !rest.empty()) wanted += "\n" + rest;
    if (wanted == text) {
      edits_.resize(edits_.size() - found);
    } else if (!wanted.empty()) {
      edits_.push_back({end, 0, text_field(doc_string_field, wanted)});
    }
  }

  CodedInputStream& in_;
  const std::string& file_;
  const std::vector<std::string>& device_of_node_;
  std::size_t node_ = 0;
  std::vector<Edit> edits_;
};

bool has_external(const onnx::TensorProto& tensor) { return tensor.external_data_size() > 0; }

bool has_external(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer())
    if (has_external(tensor)) return true;
  for (const auto& tensor : graph.sparse_initializer())
    if (has_external(tensor.values()) || has_external(tensor.indices())) return true;
  for (const auto& node : graph.node())
    for (const auto& attribute : node.attribute()) {
      if (has_external(attribute.t()) || (attribute.has_g() && has_external(attribute.g()))) return true;
      for (const auto& tensor : attribute.tensors())
        if (has_external(tensor)) return true;
      for (const auto& inner : attribute.graphs())
        if (has_external(inner)) return true;
    }
  return false;
}

void check_folder(const std::string& model, const std::string& output) {
  google::protobuf::Arena memory;
  if (!has_external(load_onnx_without_weights(model, memory).graph())) return;
  std::error_code error;
  if (!std::filesystem::equivalent(parent_folder(model), parent_folder(output), error))
    throw InputError(output, "should be in the folder of {}, whose weights lie in files beside it", model);
}

// The model's bytes with the edits, and `tail` behind them.
void copy(const std::string& model, FileWriter& out, const std::vector<Edit>& edits, const std::string& tail) {
  InputFile in(model);
  std::string_view held;
  const auto pass = [&](std::int64_t bytes) {
    while (bytes > 0) {
      if (held.empty()) held = in.read();
      if (held.empty()) throw InputError(model, "has become shorter while it was read");
      const auto part = held.substr(0, static_cast<std::size_t>(bytes));
      out.write(part);
      held.remove_prefix(part.size());
      bytes -= static_cast<std::int64_t>(part.size());
    }
  };
  std::int64_t at = 0;
  for (const Edit& edit : edits) {
    pass(edit.at - at);
    const auto erased_here = std::min(held.size(), static_cast<std::size_t>(edit.erase));
    held.remove_prefix(erased_here);
    in.skip(static_cast<std::uint64_t>(edit.erase) - erased_here);
    out.write(edit.insert);
    at = edit.at + edit.erase;
  }
  pass(in.size() - at);
  out.write(tail);
}

void check_is_onnx(const std::string& model) {
  const ReaderEntry* reader = reader_of(model);
  if (reader == nullptr) throw InputError(model, "is no ONNX model; only one can be written as one");
  if (reader->name != "onnx")
    throw InputError(model, "is read as {}; only an ONNX model can be written as one", reader->name);
}

}  // namespace

void write_annotated_onnx(const std::string& model, const std::string& output,
                          const std::vector<std::string>& device_of_node,
                          const std::vector<std::pair<std::string, std::string>>& metadata) {
  check_is_onnx(model);
  check_folder(model, output);
  const InputFile file(model);
  google::protobuf::io::FileInputStream stream(file.descriptor(), 64 << 10);
  CodedInputStream in(&stream);
  in.PushLimit(static_cast<int>(file.size()));  // below 2 GiB: check_folder has loaded it
  const std::vector<Edit> edits = EditFinder(in, model, device_of_node).run();

  std::string tail;
  for (const auto& [key, value] : metadata)
    tail += text_field(metadata_field, text_field(1, key) + text_field(2, value));
  std::int64_t size = file.size() + static_cast<std::int64_t>(tail.size());
  for (const Edit& edit : edits) size += edit.growth();
  if (size > std::numeric_limits<int>::max())
    throw InputError(output, "would have {} bytes; an ONNX file has less than 2 GiB", size);

  FileWriter out(output);
  copy(model, out, edits, tail);
  out.finish();
}

}  // namespace emplace
