// A hash table from names to their positions in a list. Only the list stores the names, the table holds no copies; this
// saves memory for graphs of millions of nodes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace emplace {

class NameTable {
 public:
  // Returns the position of an equal name that was added before; otherwise adds `position` and returns nothing.
  // `name_at(position)` must return the name at every position that was added.
  template <class NameAt>
  std::optional<std::uint32_t> add(std::string_view name, std::uint32_t position, NameAt&& name_at) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[find_slot(name, name_at)];
    if (slot.position != none) return slot.position;
    slot = {hash_of(name), position};
    ++used_;
    return std::nullopt;
  }

  // Allocates slots for `names` names; more may be added later.
  void reserve(std::size_t names) {
    while (2 * names > slots_.size()) grow();
  }

  template <class NameAt>
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name, NameAt&& name_at) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[find_slot(name, name_at)];
    return slot.position == none ? std::nullopt : std::optional(slot.position);
  }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct Slot {
    std::uint32_t hash = 0, position = none;
  };

  static std::uint32_t hash_of(std::string_view name) {
    return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name));
  }

  // The slot that holds the name, or the free slot where it would be inserted.
  template <class NameAt>
  [[nodiscard]] std::size_t find_slot(std::string_view name, NameAt&& name_at) const {
    const std::uint32_t hash = hash_of(name);
    std::size_t at = hash & (slots_.size() - 1);
    while (slots_[at].position != none && (slots_[at].hash != hash || name_at(slots_[at].position) != name))
      at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(2 * slots_.size(), 1024));
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.position == none) continue;
      std::size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].position != none) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace emplace
