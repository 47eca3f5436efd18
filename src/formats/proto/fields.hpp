// Reads protobuf's wire format together with the places of the fields in the file, so that a file can be copied with
// some fields changed or left out. https://protobuf.dev/programming-guides/encoding
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/byte_edits.hpp"
#include "formats/input_file.hpp"

namespace emplace::formats {

inline std::string proto_varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

// Encodes a text or message as the field `number`.
inline std::string proto_field(std::uint32_t number, std::string_view content) {
  return proto_varint(number << 3 | 2) + proto_varint(content.size()) + std::string(content);
}

struct ProtoPlace {
  std::uint32_t number = 0;
  std::int64_t begin = 0, length_at = 0, content = 0;  // bytes at which the tag, the length and the content begin
  std::int64_t end = 0;
  bool has_length = false;  // false: a number, which has been skipped already
  [[nodiscard]] std::int64_t length() const { return end - content; }
};

class ProtoFields {
 public:
  // `kind` ("an ONNX model") is for messages. Keeps a reference to `file`. InputError if the file has 2 GiB or more.
  ProtoFields(const std::string& file, const char* kind);

  // Calls visit(place) for each remaining field of the current message. For a field with a length, `visit` must skip,
  // read or enter the content. InputError if the message is broken.
  template <class Visit>
  void each(Visit&& visit) {
    while (in_.BytesUntilLimit() > 0) visit(next());
  }
  void skip(const ProtoPlace& field);
  std::string read(const ProtoPlace& field);  // InputError for more than 16 MiB
  template <class Inside>
  void enter(const ProtoPlace& field, Inside&& inside) {
    const auto outer = in_.PushLimit(static_cast<int>(field.length()));
    inside();
    in_.PopLimit(outer);
  }

  // Enters a message and calls `inside`, which appends to `edits`; then adds an edit that corrects the message's
  // length.
  template <class Inside>
  void edit(const ProtoPlace& field, std::vector<ByteEdit>& edits, Inside&& inside) {
    const std::size_t first = edits.size();
    edits.push_back({field.length_at, field.content - field.length_at, ""});
    enter(field, inside);
    if (edits.size() == first + 1) return edits.pop_back();
    std::int64_t length = field.length();
    for (std::size_t i = first + 1; i < edits.size(); ++i) length += edits[i].growth();
    edits[first].insert = proto_varint(static_cast<std::uint64_t>(length));
  }

  [[nodiscard]] std::int64_t file_size() const { return source_.size(); }

 private:
  ProtoPlace next();
  [[noreturn]] void fail() const;

  const std::string& file_;
  const char* kind_;
  InputFile source_;
  google::protobuf::io::FileInputStream stream_;
  google::protobuf::io::CodedInputStream in_;
};

}  // namespace emplace::formats
