// Copies a GraphDef with other devices. Field numbers: graph.proto, node_def.proto.
#include <fmt/core.h>

#include <utility>

#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/byte_edits.hpp"
#include "formats/proto/fields.hpp"
#include "formats/proto/lexer.hpp"
#include "formats/proto/sniff.hpp"
#include "formats/writers.hpp"

namespace emplace::formats {

namespace {

using Edits = std::vector<ByteEdit>;

// Returns the devices in the order of the nodes.
class Devices {
 public:
  Devices(const std::string& file, const std::vector<std::string>& of_node) : file_(file), of_node_(of_node) {}
  const std::string& next() {
    if (node_ == of_node_.size()) fail();
    return of_node_[node_++];
  }
  void check_all_given() const {
    if (node_ != of_node_.size()) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw InputError(file_,
                     "has changed since it was read, or calls functions, whose ops are no nodes of it (freeze such a "
                     "model first): {} ops were read",
                     of_node_.size());
  }

  const std::string& file_;
  const std::vector<std::string>& of_node_;
  std::size_t node_ = 0;
};

Edits binary_edits(const std::string& model, Devices& devices) {
  constexpr std::uint32_t node_field = 1, device_field = 4;
  ProtoFields in(model, "a GraphDef");
  Edits edits;
  in.each([&](const ProtoPlace& field) {
    if (!field.has_length) return;
    if (field.number != node_field) return in.skip(field);
    in.edit(field, edits, [&] {
      in.each([&](const ProtoPlace& inner) {
        if (!inner.has_length) return;
        in.skip(inner);
        if (inner.number == device_field) edits.push_back({inner.begin, inner.end - inner.begin, ""});
      });
      if (const std::string& device = devices.next(); !device.empty())
        edits.push_back({field.end, 0, proto_field(device_field, device)});
    });
  });
  return edits;
}

// The device quoted and escaped as in protobuf's text format.
std::string device_text(const std::string& device) {
  std::string quoted;
  for (const char c : device) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return fmt::format("device: \"{}\"", quoted);
}

// Finds the edits in a text file. The same file was read before, so its text is known to be valid.
class TextEdits {
 public:
  TextEdits(const std::string& model, Devices& devices) : lexer_(model), devices_(devices) {}

  Edits find() {
    std::string open;      // the brackets of the messages and lists that are open
    std::string field;     // the name of the field whose value comes next, of the graph or of the open node
    std::size_t node = 0;  // open.size() inside the open node; 0: no node is open
    ProtoToken token;
    std::int64_t field_begin = 0;
    for (lexer_.read(token); token.kind != ProtoToken::Kind::end; lexer_.read(token)) {
      const bool in_graph = open.empty() || open == "[", in_node = node != 0 && open.size() == node;
      if (token.kind == ProtoToken::Kind::word && (in_graph || in_node)) {
        field = token.value;
        field_begin = token.begin;
      } else if (token.kind == ProtoToken::Kind::text && in_node && field == "device") {
        // The value is never removed entirely, since a separator may follow it.
        edits_.push_back(
            {field_begin, token.end - field_begin, wanted_.empty() ? device_text("") : std::exchange(wanted_, "")});
      } else if (token.is('{') || token.is('<') || token.is('[')) {
        open += token.value;
        if (in_graph && field == "node" && !token.is('[')) {
          node = open.size();
          begin_node(token.end);
        }
      } else if ((token.is('}') || token.is('>') || token.is(']')) && !open.empty()) {
        if (in_node) {
          end_node();
          node = 0;
          field = "node";  // a list may contain more nodes
        }
        open.pop_back();
      }
    }
    return std::move(edits_);
  }

 private:
  void begin_node(std::int64_t at) {
    begin_ = at;
    const std::string& device = devices_.next();
    wanted_ = device.empty() ? "" : device_text(device);
  }
  void end_node() {
    if (!wanted_.empty()) edits_.push_back({begin_, 0, "\n  " + wanted_});
  }

  ProtoLexer lexer_;
  Devices& devices_;
  Edits edits_;
  std::int64_t begin_ = 0;  // the byte at which the node's content begins
  std::string wanted_;      // the device that has still to be written to the node
};

}  // namespace

void write_graphdef_devices(const std::string& model, const std::string& output,
                            const std::vector<std::string>& device_of_node) {
  check_reader(model, "tensorflow", "a GraphDef");
  Devices devices(model, device_of_node);
  const Edits edits = is_text_proto(model) ? TextEdits(model, devices).find() : binary_edits(model, devices);
  devices.check_all_given();
  FileWriter out(output);
  copy_with_edits(model, out, edits);
  out.finish();
}

}  // namespace emplace::formats
