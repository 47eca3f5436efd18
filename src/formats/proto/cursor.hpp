// Reads a protobuf message, in binary or text form, as a stream of its fields. The decoder of a message is written once
// for both forms and keeps only the fields it needs, so that weights are never in memory.
// https://protobuf.dev/programming-guides/encoding and https://protobuf.dev/reference/protobuf/textformat-spec.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace emplace::formats {

enum class ProtoKind : std::uint8_t { message, text, whole, real, boolean, enumeration };

struct ProtoField {
  std::uint32_t number;
  std::string_view name;
  ProtoKind kind;
};

// The number of a name of an enumeration; text files have the names.
struct ProtoEnumerator {
  std::int64_t number;
  std::string_view name;
};

class ProtoCursor {
 public:
  virtual ~ProtoCursor() = default;

  // Returns the number of the message's next field among the known ones, 0 at its end. All other fields, and fields of
  // another kind than in `known`, are skipped. A repeated field is returned once for each element, packed or not. The
  // caller must read the value with the function of the field's kind before the next call. Throws InputError (with file
  // and byte or line) if the message is broken.
  virtual std::uint32_t next(std::span<const ProtoField> known) = 0;
  // Returns nullopt if the text is longer than `longest` bytes; it is then skipped.
  virtual std::optional<std::string> text(std::size_t longest) = 0;
  virtual std::int64_t whole() = 0;  // for kinds whole and boolean
  virtual double real() = 0;
  // InputError for a name that is not among `names`; numbers are returned unchecked.
  virtual std::int64_t enumeration(std::span<const ProtoEnumerator> names) = 0;
  // Reads the message that is the field's value: `body` must call next() until it returns 0.
  virtual void message(const std::function<void()>& body) = 0;

  [[noreturn]] virtual void fail(const std::string& why) const = 0;
  // Reads a name; InputError if it is longer than 64 KiB or not valid UTF-8.
  std::string name();
};

// Opens a file that is one message; InputError if it is missing or no regular file. Files are read in pieces and may
// have any size.
std::unique_ptr<ProtoCursor> open_binary_proto(const std::string& path);
std::unique_ptr<ProtoCursor> open_text_proto(const std::string& path);
// The same for a file that was read already, whose content must outlive the cursor.
std::unique_ptr<ProtoCursor> open_binary_proto(const std::string& path, std::string_view content);
std::unique_ptr<ProtoCursor> open_text_proto(const std::string& path, std::string_view content);

}  // namespace emplace::formats
