#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <cmath>
#include <memory>

#include "checkpoint_image.hpp"

namespace emplace {

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
  // Length first: neighbouring texts cannot trade characters.
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

}  // namespace

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

}  // namespace emplace
