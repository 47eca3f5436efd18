#include "formats/huggingface/safetensors.hpp"

#include "emplace/base/error.hpp"
#include "formats/input_file.hpp"
#include "formats/json/members.hpp"

namespace emplace::formats {

namespace {

constexpr std::uint64_t largest_header = 100'000'000;  // as in the safetensors library

// The JSON text that follows its length.
std::string header_of(const std::string& path) {
  InputFile file(path);
  std::string text;
  std::uint64_t wanted = 8;
  bool has_length = false;
  for (std::string_view piece = file.read(); !piece.empty() && text.size() < wanted; piece = file.read()) {
    text += piece;
    if (has_length || text.size() < 8) continue;
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<unsigned char>(text[static_cast<std::size_t>(i)]);
    const auto size = static_cast<std::uint64_t>(file.size());
    if (length > largest_header || length > size - 8)
      throw InputError(path, "is no safetensors file, or is damaged: its header would have {} bytes, the file has {}",
                       length, size);
    wanted = 8 + length;
    has_length = true;
  }
  if (!has_length || text.size() < wanted)
    throw InputError(path, "is no safetensors file: it has {} bytes", text.size());
  return text.substr(8, wanted - 8);
}

}  // namespace

void read_safetensors(const std::string& path, const TakeStored& take) {
  const std::string text = header_of(path);
  const json::Document document = json::parse(text, path);
  const json::Place place(path);
  document.root().each_member(place, [&](std::string_view name, json::Value facts) {
    if (name == "__metadata__") return;
    const json::Place at(place, name), offsets(at, "data_offsets");
    const json::Value range = need_member(facts, at, "data_offsets");
    if (range.array_size(offsets) != 2) throw InputError(offsets.str(), "must have a beginning and an end");
    Bytes ends[2] = {0, 0};
    range.each_element(
        offsets, [&](std::size_t i, json::Value end) { ends[i] = end.whole(json::Place(offsets, i), 0, total_limit); });
    if (ends[1] < ends[0]) throw InputError(offsets.str(), "ends before it begins");
    take(name, need_member(facts, at, "dtype").text(json::Place(at, "dtype")), ends[1] - ends[0]);
  });
}

}  // namespace emplace::formats
