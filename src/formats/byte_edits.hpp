// Copies a file with a few places changed: a first pass over the file finds the places, a second pass copies all other
// bytes unchanged.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/files.hpp"

namespace emplace::formats {

// Replaces the `erase` bytes from byte `at` of the file by the text `insert`.
struct ByteEdit {
  std::int64_t at;
  std::int64_t erase;
  std::string insert;
  [[nodiscard]] std::int64_t growth() const { return static_cast<std::int64_t>(insert.size()) - erase; }
};

// `edits` must be in the order of the file and must not overlap. Besides the edits only a small buffer is in memory.
// InputError if the file ends before the last edit.
void copy_with_edits(const std::string& file, FileWriter& out, std::span<const ByteEdit> edits);

// Bytes [begin, end) of a file, or else a new text.
struct Piece {
  std::int64_t begin = 0, end = 0;
  std::string text = {};
};
// Writes the pieces one after the other; those from the file must be in its order. InputError as above.
void copy_pieces(const std::string& file, FileWriter& out, std::span<const Piece> pieces);

}  // namespace emplace::formats
