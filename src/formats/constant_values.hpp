// Values of small constants of whole numbers (sizes, axes, permutations) that lie in files of weights beside a model.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "formats/input_file.hpp"

namespace emplace::formats {

// No shape has more numbers; larger constants are weights, which are not read.
inline constexpr std::int64_t most_constant_numbers = 64;
// The attribute of an op of type Constant that holds its value as a list of whole numbers.
inline constexpr const char* constant_attribute = "constant";

// Whether the constant is one whose value WeightFiles reads: i32 or i64, of 1 to `most_constant_numbers` numbers.
bool is_small_whole(DType dtype, const Shape& shape);

// Little-endian numbers of `width` (4 or 8) bytes, which divides the length of `data`.
std::vector<std::int64_t> numbers_in(std::string_view data, std::size_t width);

// Files whose bytes follow one another.
class WeightFiles {
 public:
  // Files may be missing: the values are unknown then.
  explicit WeightFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  // The numbers of a small constant from byte `offset` of all files together on; nullopt if a file is missing. If the
  // files end before them (as a pointer file of Git LFS does), the result is nullopt too, and the first time a warning
  // names the file and `constant`.
  std::optional<std::vector<std::int64_t>> wholes(std::int64_t offset, DType dtype, const Shape& shape,
                                                  const std::string& constant);

 private:
  bool open();

  std::vector<std::string> paths_;
  std::vector<std::unique_ptr<InputFile>> files_;
  std::optional<bool> is_open_;  // none: not tried yet
  bool has_warned_ = false;
};

}  // namespace emplace::formats
