// The header of a GGUF file, versions 2 and 3 (ggml/docs/gguf.md): keys with values, and the name, sizes, type and
// place of each tensor. Weights are never read. Time and memory are bounded by what the file holds, whatever its counts
// claim.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "emplace/base/types.hpp"

namespace emplace::formats {

// A list of numbers or booleans is kept if it is as long as a model may have layers; of other lists only the length is.
struct GgufList {
  std::uint64_t count = 0;
  std::vector<double> numbers;  // empty: not kept, or of texts
};

using GgufValue = std::variant<std::int64_t, double, bool, std::string, GgufList>;

struct GgufTensor {
  std::string name;
  std::vector<std::int64_t> sizes;  // the first is that of a row
  std::string type;                 // a name of language::weight_types()
  Bytes bytes = 0;
};

class GgufHeader {
 public:
  // InputError with the file and the key or tensor concerned.
  explicit GgufHeader(const std::string& path);

  // Each returns nothing, or `fallback`, if the key is missing; InputError if its value has another type.
  [[nodiscard]] std::optional<std::int64_t> whole(const std::string& key) const;
  [[nodiscard]] std::string text(const std::string& key, const std::string& fallback) const;
  // A number for each of `count` layers: the key may have one for all of them.
  [[nodiscard]] std::optional<std::vector<std::int64_t>> wholes(const std::string& key, std::size_t count) const;
  [[nodiscard]] bool is_list(const std::string& key) const;
  // The length of the list.
  [[nodiscard]] std::optional<std::int64_t> length(const std::string& key) const;
  [[nodiscard]] const std::string& path() const { return path_; }

  std::vector<GgufTensor> tensors;
  Bytes data_bytes = 0;  // of the weights of this file, as its tensors say
  Bytes held_bytes = 0;  // of these, what the file holds

 private:
  [[nodiscard]] const GgufValue* find(const std::string& key) const;

  std::string path_;
  std::map<std::string, GgufValue, std::less<>> values_;
};

}  // namespace emplace::formats
