// A protobuf message as a stream of its fields, from binary or from text: a message's decoder is written once, keeps
// what it wants, and weights pass by without being held. https://protobuf.dev/programming-guides/encoding and
// https://protobuf.dev/reference/protobuf/textformat-spec.
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

// Numbers of an enumeration's names, as text files write them.
struct ProtoEnumerator {
  std::int64_t number;
  std::string_view name;
};

class ProtoCursor {
 public:
  virtual ~ProtoCursor() = default;

  // The number of the message's next field among the known ones, 0 at its end. All others are skipped, as are fields of
  // another kind than known. A repeated field is seen once an element, packed or not. The caller must read the value
  // with the function of the field's kind before the next call. InputError (file, byte or line) where it is broken.
  virtual std::uint32_t next(std::span<const ProtoField> known) = 0;
  // nullopt: longer than `longest` bytes, and skipped.
  virtual std::optional<std::string> text(std::size_t longest) = 0;
  virtual std::int64_t whole() = 0;  // whole, boolean
  virtual double real() = 0;
  // InputError for a name that is not among `names`; numbers are passed on as they are.
  virtual std::int64_t enumeration(std::span<const ProtoEnumerator> names) = 0;
  // Reads the message that is the field's value: `body` calls next() until it is 0.
  virtual void message(const std::function<void()>& body) = 0;

  [[noreturn]] virtual void fail(const std::string& why) const = 0;
  // A name: valid UTF-8 of at most 64 KiB, else InputError.
  std::string name();
};

// The whole file as one message; InputError if it is missing or no regular file. Files of any size are read in pieces.
std::unique_ptr<ProtoCursor> open_binary_proto(const std::string& path);
std::unique_ptr<ProtoCursor> open_text_proto(const std::string& path);

}  // namespace emplace::formats
