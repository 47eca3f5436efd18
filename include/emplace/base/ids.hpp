// Strong identifiers: a position in one of a problem's lists that cannot be mistaken for a position in another.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace emplace {

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

}  // namespace emplace
