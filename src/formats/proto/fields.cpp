#include "formats/proto/fields.hpp"

#include <limits>

#include "emplace/base/error.hpp"

namespace emplace::formats {

namespace {

constexpr std::int64_t longest_text = 16 << 20;

}  // namespace

ProtoFields::ProtoFields(const std::string& file, const char* kind)
    : file_(file), kind_(kind), source_(file), stream_(source_.descriptor(), 64 << 10), in_(&stream_) {
  if (source_.size() > std::numeric_limits<int>::max())
    throw InputError(file_, "has {} bytes; {} has less than 2 GiB", source_.size(), kind_);
  in_.PushLimit(static_cast<int>(source_.size()));
}

void ProtoFields::skip(const ProtoPlace& field) {
  if (!in_.Skip(static_cast<int>(field.length()))) fail();
}

std::string ProtoFields::read(const ProtoPlace& field) {
  if (field.length() > longest_text)
    throw InputError(file_, "has a text of {} bytes at byte {}", field.length(), field.begin);
  std::string content;
  if (!in_.ReadString(&content, static_cast<int>(field.length()))) fail();
  return content;
}

ProtoPlace ProtoFields::next() {
  ProtoPlace field;
  field.begin = in_.CurrentPosition();
  const std::uint32_t tag = in_.ReadTag();
  field.number = tag >> 3;
  field.length_at = in_.CurrentPosition();
  field.has_length = (tag & 7) == 2;
  std::uint64_t value = 0;
  std::uint32_t word = 0;
  bool good = field.number != 0;
  switch (tag & 7) {
    case 0:
    case 2: good = good && in_.ReadVarint64(&value); break;
    case 1: good = good && in_.ReadLittleEndian64(&value); break;
    case 5: good = good && in_.ReadLittleEndian32(&word); break;
    default: good = false;
  }
  if (!good || (field.has_length && value > static_cast<std::uint64_t>(in_.BytesUntilLimit()))) fail();
  field.content = in_.CurrentPosition();
  field.end = field.content + (field.has_length ? static_cast<std::int64_t>(value) : 0);
  return field;
}

void ProtoFields::fail() const {
  throw InputError(file_, "is not {}, or is truncated or damaged: at byte {}", kind_, in_.CurrentPosition());
}

}  // namespace emplace::formats
