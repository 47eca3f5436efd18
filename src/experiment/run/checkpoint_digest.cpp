#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "experiment/run/checkpoint_image.hpp"

namespace emplace::experiment {

namespace {

class Digest {
 public:
  Digest() : state_(XXH3_createState(), XXH3_freeState) {
    EMPLACE_CHECK(state_ != nullptr);
    XXH3_128bits_reset(state_.get());
  }
  void add(const void* data, std::size_t bytes) {
    if (bytes > 0) XXH3_128bits_update(state_.get(), data, bytes);
  }
  void add(std::uint64_t value) { add(&value, sizeof value); }
  // Length first, so that "ab", "c" and "a", "bc" have different digests.
  void add(const std::string& text) {
    add(text.size());
    add(text.data(), text.size());
  }
  [[nodiscard]] std::string hex() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

constexpr std::string_view seal_words = "\nemplace checkpoint, xxh3-128 ";

std::string seal_of(std::string_view image) {
  Digest digest;
  digest.add(image.data(), image.size());
  return fmt::format("{}{}\n", seal_words, digest.hex());
}

}  // namespace

std::string sealed(std::string image) { return image += seal_of(image); }

std::string_view unsealed(std::string_view content, const std::string& file) {
  if (!content.starts_with("\x89HDF\r\n\x1a\n"))
    throw InputError(file, "is not an HDF5 file (its first 8 bytes differ), wanted a checkpoint of emplace");
  const std::size_t seal_bytes = seal_of({}).size();
  const std::string_view image = content.substr(0, content.size() - std::min(content.size(), seal_bytes));
  const std::string_view seal = content.substr(image.size());
  if (!seal.starts_with(seal_words))
    throw InputError(file, "is truncated, or an HDF5 file that is no checkpoint of emplace: its last line is no seal");
  if (seal != seal_of(image)) throw InputError(file, "is damaged: its bytes do not match the seal in its last line");
  return image;
}

std::string checkpoint_digest(const Checkpoint& checkpoint) {
  Digest digest;
  digest.add(checkpoint.arrays.size());
  for (const auto& [name, array] : checkpoint.arrays) {
    digest.add(name);
    digest.add(array.data.index());
    digest.add(array.shape.size());
    for (const std::uint64_t extent : array.shape) digest.add(extent);
    std::visit([&](const auto& values) { digest.add(values.data(), values.size() * sizeof(values[0])); }, array.data);
  }
  digest.add(checkpoint.attributes.size());
  for (const auto& [name, text] : checkpoint.attributes) {
    digest.add(name);
    digest.add(text);
  }
  return digest.hex();
}

std::string find_nan(const State& arrays) {
  const auto first_nan = [](const auto& values) -> std::size_t {
    std::size_t at = 0;
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(values[0])>>)
      while (at < values.size() && !std::isnan(values[at])) ++at;
    else
      at = values.size();
    return at;
  };
  for (const auto& [name, array] : arrays) {
    if (!name.starts_with("policy/") && !name.starts_with("optimizer/")) continue;
    const std::size_t at = std::visit(first_nan, array.data);
    const std::size_t size = std::visit([](const auto& values) { return values.size(); }, array.data);
    if (at < size) return fmt::format("{}[{}] is not a number", name, at);
  }
  return {};
}

}  // namespace emplace::experiment
