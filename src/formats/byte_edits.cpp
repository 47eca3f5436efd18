#include "formats/byte_edits.hpp"

#include <algorithm>

#include "emplace/base/error.hpp"
#include "formats/input_file.hpp"

namespace emplace::formats {

namespace {

class Copier {
 public:
  Copier(const std::string& file, FileWriter& out) : file_(file), in_(file), out_(out) {}

  [[nodiscard]] std::int64_t size() const { return in_.size(); }

  void copy_until(std::int64_t end) {
    while (at_ < end) {
      if (held_.empty()) held_ = in_.read();
      if (held_.empty()) throw InputError(file_, "has become shorter while it was read");
      const auto part = held_.substr(0, static_cast<std::size_t>(end - at_));
      out_.write(part);
      pass(part.size());
    }
  }

  void skip_until(std::int64_t end) {
    const auto bytes = static_cast<std::uint64_t>(end - at_);
    const auto here = std::min<std::uint64_t>(held_.size(), bytes);
    pass(here);
    in_.skip(bytes - here);
    at_ = end;
  }

 private:
  void pass(std::size_t bytes) {
    held_.remove_prefix(bytes);
    at_ += static_cast<std::int64_t>(bytes);
  }

  const std::string& file_;
  InputFile in_;
  FileWriter& out_;
  std::string_view held_;  // bytes that were read but not yet copied or skipped
  std::int64_t at_ = 0;
};

}  // namespace

void copy_with_edits(const std::string& file, FileWriter& out, std::span<const ByteEdit> edits) {
  Copier copier(file, out);
  for (const ByteEdit& edit : edits) {
    copier.copy_until(edit.at);
    copier.skip_until(edit.at + edit.erase);
    out.write(edit.insert);
  }
  copier.copy_until(copier.size());
}

void copy_pieces(const std::string& file, FileWriter& out, std::span<const Piece> pieces) {
  Copier copier(file, out);
  for (const Piece& piece : pieces) {
    if (piece.end > piece.begin) {
      copier.skip_until(piece.begin);
      copier.copy_until(piece.end);
    }
    out.write(piece.text);
  }
}

}  // namespace emplace::formats
