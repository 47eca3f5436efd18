#include "formats/proto/sniff.hpp"

#include <algorithm>
#include <array>

#include "emplace/base/error.hpp"
#include "formats/input_file.hpp"

namespace emplace::formats {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The first word after blanks and comments.
std::string_view first_word(std::string_view head) {
  while (!head.empty() && (is_blank(head[0]) || head[0] == '#'))
    head.remove_prefix(head[0] == '#' ? std::min(head.find('\n'), head.size()) : 1);
  std::size_t end = 0;
  while (end < head.size() && ((head[end] >= 'a' && head[end] <= 'z') || head[end] == '_')) ++end;
  return head.substr(0, end);
}

bool is_text(std::string_view head) {
  const std::string_view word = first_word(head);
  constexpr std::array<std::string_view, 7> first_fields = {
      "node", "versions", "version", "library", "cost", "saved_model_schema_version", "meta_graphs"};
  if (std::ranges::find(first_fields, word) == first_fields.end()) return false;
  head.remove_prefix(static_cast<std::size_t>(word.data() - head.data()) + word.size());
  while (!head.empty() && is_blank(head[0])) head.remove_prefix(1);
  return !head.empty() && (head[0] == '{' || head[0] == '<' || head[0] == ':');
}

// Whether there is a field of this name, as in "id: 3" or "input_info {".
bool has_field(std::string_view head, std::string_view name) {
  for (std::size_t at = head.find(name); at != std::string_view::npos; at = head.find(name, at + 1)) {
    const bool starts = at == 0 || is_blank(head[at - 1]) || head[at - 1] == '{';
    std::size_t end = at + name.size();
    while (end < head.size() && is_blank(head[end])) ++end;
    if (starts && end < head.size() && (head[end] == ':' || head[end] == '{')) return true;
  }
  return false;
}

std::uint64_t take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 63 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes[0]);
    bytes.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) break;
  }
  return value;
}

// Decides by a node: NodeDef has texts and messages only (name, op, input, device, attr), CostGraphDef.Node has numbers
// too.
TensorflowFile kind_of_node(std::string_view node) {
  bool has_op = false;
  while (!node.empty()) {
    const std::uint64_t tag = take_varint(node);
    if (tag >> 3 == 0 || tag >> 3 > 32) return TensorflowFile::none;
    if ((tag & 7) == 0) return TensorflowFile::cost_graph;
    if ((tag & 7) != 2) return TensorflowFile::none;
    const std::uint64_t length = take_varint(node);
    const std::string_view value = node.substr(0, length);
    // An output_info starts with a number, an attr with its key.
    if (tag >> 3 == 5 && !value.empty()) return value[0] == '\x0a' ? TensorflowFile::graph : TensorflowFile::cost_graph;
    if (tag >> 3 == 3) return TensorflowFile::graph;
    // A device is "" or a path; an op is a name.
    if (tag >> 3 == 2) has_op = !value.empty() && value.find('/') == std::string_view::npos;
    if (length > node.size()) break;
    node.remove_prefix(length);
  }
  return has_op ? TensorflowFile::graph : TensorflowFile::none;
}

}  // namespace

TensorflowFile sniff_proto(std::string_view head) {
  if (is_text(head)) {
    if (first_word(head) == "cost") return TensorflowFile::cost_graph;
    for (const char* name : {"id", "input_info", "output_info", "compute_cost", "control_input", "is_final"})
      if (has_field(head, name)) return TensorflowFile::cost_graph;
    return TensorflowFile::graph;
  }
  TensorflowFile found = TensorflowFile::none;
  while (!head.empty() && head[0] == '\x0a') {
    head.remove_prefix(1);
    const std::uint64_t length = take_varint(head);
    const std::string_view node = head.substr(0, length);
    if (node.empty() || node[0] != '\x0a') break;  // every node starts with its name
    found = kind_of_node(node);
    if (found == TensorflowFile::cost_graph || length >= head.size()) break;
    head.remove_prefix(length);
  }
  return found;
}

bool is_text_proto(const std::string& path) {
  InputFile file(path);
  if (file.size() == 0) throw InputError(path, "is empty");
  return path.ends_with(".pbtxt") || is_text(file.read());
}

std::unique_ptr<ProtoCursor> open_proto(const std::string& path) {
  return is_text_proto(path) ? open_text_proto(path) : open_binary_proto(path);
}

}  // namespace emplace::formats
