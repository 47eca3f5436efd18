// A copy of a file with a few places changed: a first pass finds the places, a second copies all other bytes as they
// are.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/files.hpp"

namespace emplace::formats {

// At byte `at` of the file `erase` bytes go and `insert` comes.
struct ByteEdit {
  std::int64_t at;
  std::int64_t erase;
  std::string insert;
  [[nodiscard]] std::int64_t growth() const { return static_cast<std::int64_t>(insert.size()) - erase; }
};

// `edits` in the order of the file, none over another. Memory is that of the edits. InputError if the file ends before
// the last of them.
void copy_with_edits(const std::string& file, FileWriter& out, std::span<const ByteEdit> edits);

// Bytes [begin, end) of a file, or a text of our own.
struct Piece {
  std::int64_t begin = 0, end = 0;
  std::string text = {};
};
// Writes pieces one after the other; those of the file in its order. InputError as above.
void copy_pieces(const std::string& file, FileWriter& out, std::span<const Piece> pieces);

}  // namespace emplace::formats
