// Units, identifiers and element types that all of emplace shares.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace emplace {

// Units of the simulation: integer picoseconds and integer bytes (docs/simulation.md, units).
// Picoseconds. Integer, so that ties are exact and sums do not depend on their order.
using Ticks = std::int64_t;
using Bytes = std::int64_t;

inline constexpr double ticks_per_second = 1e12;

// Every total (bytes, picoseconds) stays at or below this, so that no sum of the engines can overflow.
inline constexpr std::int64_t total_limit = std::int64_t{1} << 62;

[[nodiscard]] constexpr double to_seconds(Ticks ticks) { return static_cast<double>(ticks) / ticks_per_second; }

// Strong identifiers: a position in one of a problem's lists that cannot be mistaken for a position in another.
template <class Tag>
struct Id {
  std::uint32_t value = none_value;

  static constexpr std::uint32_t none_value = std::numeric_limits<std::uint32_t>::max();
  constexpr Id() = default;
  constexpr explicit Id(std::size_t position) : value(static_cast<std::uint32_t>(position)) {}

  [[nodiscard]] constexpr std::size_t index() const { return value; }
  [[nodiscard]] constexpr bool is_none() const { return value == none_value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

using OpId = Id<struct OpTag>;
using TensorId = Id<struct TensorTag>;
using DeviceId = Id<struct DeviceTag>;
using ChannelId = Id<struct ChannelTag>;
using GroupId = Id<struct GroupTag>;

// Element types of tensors.
enum class DType : std::uint8_t {
  unknown,
  f16,
  bf16,
  f32,
  f64,
  i8,
  u8,
  i16,
  u16,
  i32,
  u32,
  i64,
  u64,
  boolean,
  text,
  c64,
  c128
};
// Bytes of one element; 0 for unknown and text.
[[nodiscard]] std::int64_t bytes_of(DType type);
[[nodiscard]] const char* name_of(DType type);
// True for f16, bf16, f32 and f64.
[[nodiscard]] bool is_floating(DType type);
// True for c64 and c128.
[[nodiscard]] bool is_complex(DType type);

}  // namespace emplace
