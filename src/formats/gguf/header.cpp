#include "formats/gguf/header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "formats/gguf/bytes.hpp"
#include "formats/memory_budget.hpp"
#include "language/weight_type.hpp"

namespace emplace::formats {

namespace {

// The numbers of value types.
struct ValueType {
  enum : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64, count };
  static constexpr std::uint64_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 8, 0, 8, 8, 8};  // a text has at least its length
};

// The longest of what is kept or read.
struct GgufLimits {
  static constexpr std::uint64_t key = 65535, text = 65536, list = 65536;
  static constexpr std::uint64_t texts = std::uint64_t{1} << 24;  // the largest vocabularies have 2^18 tokens
  static constexpr std::uint64_t dimensions = 4;
};

std::int64_t clamped(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::uint64_t{1} << 62));
}

class HeaderReader {
 public:
  explicit HeaderReader(const std::string& path) : path_(path), bytes_(path), memory_(path) {}

  void read_start() {
    if (bytes_.left() < 8 || bytes_.number<std::uint32_t>("the magic") != 0x46554747)
      throw InputError(path_, "is no GGUF file: it does not begin with GGUF");
    const auto version = bytes_.number<std::uint32_t>("the version");
    if ((version & 0xFFFF) == 0 && version != 0)
      throw InputError(path_, "is a GGUF file for big-endian machines; little-endian ones are read");
    if (version != 2 && version != 3)
      throw InputError(path_, "has version {} of GGUF; versions 2 and 3 are read{}", version,
                       version == 1 ? " (llama.cpp of September 2023 or later converts it: convert it again)" : "");
    tensors_ = bytes_.number<std::uint64_t>("the number of tensors");
    keys_ = bytes_.number<std::uint64_t>("the number of keys");
    // A tensor has the length of its name, a name, its rank, a size, its type and its offset; a key its name and a
    // type.
    bytes_.check_room(keys_, 8 + 1 + 4 + 1, "the list of keys");
    bytes_.check_room(tensors_, 8 + 1 + 4 + 8 + 4 + 8, "the list of tensors");
  }

  void read_keys(std::map<std::string, GgufValue, std::less<>>& values) {
    for (std::uint64_t i = 0; i < keys_; ++i) {
      std::string key = bytes_.text(fmt::format("key {}", i), GgufLimits::key);
      if (key.empty()) throw InputError(path_, "key {} has no name", i);
      const auto type = bytes_.number<std::uint32_t>(quote(key));
      GgufValue value = read_value(type, key);
      memory_.use(200 + key.size());
      if (!values.emplace(key, std::move(value)).second) throw InputError(path_, "has the key {} twice", quote(key));
    }
  }

  void read_tensors(std::vector<GgufTensor>& tensors) {
    std::unordered_set<std::string> names;
    for (std::uint64_t i = 0; i < tensors_; ++i) {
      GgufTensor tensor = read_tensor(i);
      memory_.use(250 + 2 * tensor.name.size());
      if (!names.insert(tensor.name).second) throw InputError(path_, "has the tensor {} twice", quote(tensor.name));
      tensors.push_back(std::move(tensor));
    }
  }

  // The bytes of weights that the tensors claim, and those that the file holds behind a header with this alignment.
  [[nodiscard]] std::pair<Bytes, Bytes> data(std::uint64_t alignment) const {
    const std::uint64_t start = (bytes_.position() + alignment - 1) / alignment * alignment;
    const std::uint64_t end = bytes_.position() + bytes_.left();
    return {data_end_, end > start ? static_cast<Bytes>(end - start) : 0};
  }

 private:
  GgufValue read_number(std::uint32_t type, const std::string& key) {
    const std::string what = quote(key);
    switch (type) {
      case ValueType::u8: return std::int64_t{bytes_.number<std::uint8_t>(what)};
      case ValueType::i8: return std::int64_t{bytes_.number<std::int8_t>(what)};
      case ValueType::u16: return std::int64_t{bytes_.number<std::uint16_t>(what)};
      case ValueType::i16: return std::int64_t{bytes_.number<std::int16_t>(what)};
      case ValueType::u32: return std::int64_t{bytes_.number<std::uint32_t>(what)};
      case ValueType::i32: return std::int64_t{bytes_.number<std::int32_t>(what)};
      case ValueType::u64: return clamped(bytes_.number<std::uint64_t>(what));
      case ValueType::i64: return bytes_.number<std::int64_t>(what);
      case ValueType::f32: return double{bytes_.number<float>(what)};
      case ValueType::f64: return bytes_.number<double>(what);
      case ValueType::boolean: return bytes_.number<std::uint8_t>(what) != 0;
      default: throw InputError(path_, "{} has a value of type {}, which GGUF does not define", what, type);
    }
  }

  GgufValue read_value(std::uint32_t type, const std::string& key) {
    if (type == ValueType::text) return bytes_.short_text(quote(key), GgufLimits::text);
    return type == ValueType::list ? GgufValue(read_list(key)) : read_number(type, key);
  }

  GgufList read_list(const std::string& key) {
    const auto type = bytes_.number<std::uint32_t>(quote(key));
    GgufList values;
    values.count = bytes_.number<std::uint64_t>(quote(key));
    if (type == ValueType::list) throw InputError(path_, "{} is a list of lists, which is not read", quote(key));
    if (type >= ValueType::count)
      throw InputError(path_, "{} is a list of type {}, which GGUF does not define", quote(key), type);
    bytes_.check_room(values.count, ValueType::bytes[type], quote(key));
    if (type == ValueType::text) {
      if (values.count > GgufLimits::texts)
        throw InputError(path_, "{} has {} texts; at most {} are read", quote(key), values.count, GgufLimits::texts);
      for (std::uint64_t i = 0; i < values.count; ++i)
        bytes_.skip(bytes_.number<std::uint64_t>(quote(key)), quote(key));
    } else if (values.count > GgufLimits::list) {
      bytes_.skip(values.count * ValueType::bytes[type], quote(key));
    } else {
      memory_.use(8 * values.count);
      for (std::uint64_t i = 0; i < values.count; ++i)
        values.numbers.push_back(std::visit(
            [](const auto& value) {
              if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>) return static_cast<double>(value);
              return 0.0;
            },
            read_number(type, key)));
    }
    return values;
  }

  GgufTensor read_tensor(std::uint64_t number) {
    GgufTensor tensor;
    tensor.name = bytes_.text(fmt::format("tensor {}", number), GgufLimits::key);
    if (tensor.name.empty()) throw InputError(path_, "tensor {} has no name", number);
    const std::string what = "tensor " + quote(tensor.name);
    const auto rank = bytes_.number<std::uint32_t>(what);
    if (rank < 1 || rank > GgufLimits::dimensions)
      throw InputError(path_, "{} has {} dimensions; it must have 1 to {}", what, rank, GgufLimits::dimensions);
    std::int64_t rows = 1, elements = 1;
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto size = bytes_.number<std::uint64_t>(what);
      if (size < 1 || size > static_cast<std::uint64_t>(total_limit) ||
          __builtin_mul_overflow(elements, static_cast<std::int64_t>(size), &elements) || elements > total_limit)
        throw InputError(path_, "{}: dimension {} is {}; sizes are 1 to 2^62 together", what, i, size);
      tensor.sizes.push_back(static_cast<std::int64_t>(size));
      if (i > 0) rows *= static_cast<std::int64_t>(size);
    }
    const language::WeightType& type = read_type(what);
    tensor.type = type.name;
    if (tensor.sizes[0] % type.block != 0)
      throw InputError(path_, "{} has rows of {} values, but its type {} stores blocks of {}", what, tensor.sizes[0],
                       type.name, type.block);
    const auto bytes = language::bytes_of_rows(type, tensor.sizes[0], rows);
    const auto offset = bytes_.number<std::uint64_t>(what);
    if (!bytes || offset > static_cast<std::uint64_t>(total_limit - *bytes))
      throw InputError(path_, "{} ends beyond 2^62 bytes", what);
    tensor.bytes = *bytes;
    data_end_ = std::max(data_end_, static_cast<Bytes>(offset) + *bytes);
    return tensor;
  }

  const language::WeightType& read_type(const std::string& what) {
    const auto number = bytes_.number<std::uint32_t>(what);
    const language::WeightType* type = language::find_ggml_type(number);
    if (type == nullptr)
      throw InputError(path_, "{} has type {} of ggml, which is not known here; known are 0 to {}", what, number,
                       largest_type());
    if (type->removed)
      throw InputError(path_, "{} has type {} ({}), which ggml does not read any more", what, type->name, number);
    return *type;
  }

  static std::int32_t largest_type() {
    std::int32_t largest = 0;
    for (const language::WeightType& type : language::weight_types()) largest = std::max(largest, type.ggml);
    return largest;
  }

  const std::string& path_;
  GgufBytes bytes_;
  MemoryBudget memory_;
  std::uint64_t tensors_ = 0, keys_ = 0;
  Bytes data_end_ = 0;
};

}  // namespace

GgufHeader::GgufHeader(const std::string& path) : path_(path) {
  HeaderReader reader(path_);
  reader.read_start();
  reader.read_keys(values_);
  reader.read_tensors(tensors);
  const std::int64_t alignment = whole("general.alignment").value_or(32);
  if (alignment < 1 || alignment > (1 << 30) || (alignment & (alignment - 1)) != 0)
    throw InputError(path_, "general.alignment is {}; it must be a power of two", alignment);
  std::tie(data_bytes, held_bytes) = reader.data(static_cast<std::uint64_t>(alignment));
}

const GgufValue* GgufHeader::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<std::int64_t> GgufHeader::whole(const std::string& key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return *whole;
  throw InputError(path_, "{} must be a whole number", quote(key));
}

std::string GgufHeader::text(const std::string& key, const std::string& fallback) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return fallback;
  if (const auto* text_value = std::get_if<std::string>(value)) return *text_value;
  throw InputError(path_, "{} must be a text", quote(key));
}

std::optional<std::vector<std::int64_t>> GgufHeader::wholes(const std::string& key, std::size_t count) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* whole = std::get_if<std::int64_t>(value)) return std::vector<std::int64_t>(count, *whole);
  if (const auto* flag = std::get_if<bool>(value)) return std::vector<std::int64_t>(count, *flag ? 1 : 0);
  const auto* values = std::get_if<GgufList>(value);
  if (values == nullptr || values->numbers.size() < count)
    throw InputError(path_, "{} must have a whole number for each of {} layers", quote(key), count);
  std::vector<std::int64_t> wholes;
  for (std::size_t i = 0; i < count; ++i) {
    const double number = values->numbers[i];
    if (!(std::abs(number) < 1e15) || number != std::floor(number))
      throw InputError(path_, "{} must have whole numbers; number {} is {}", quote(key), i, number);
    wholes.push_back(static_cast<std::int64_t>(number));
  }
  return wholes;
}

bool GgufHeader::is_list(const std::string& key) const {
  const GgufValue* value = find(key);
  return value != nullptr && std::holds_alternative<GgufList>(*value);
}

std::optional<std::int64_t> GgufHeader::length(const std::string& key) const {
  const GgufValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* values = std::get_if<GgufList>(value)) return clamped(values->count);
  throw InputError(path_, "{} must be a list", quote(key));
}

}  // namespace emplace::formats
