// A 4-ary minimum heap of distinct packed keys. Mispredicted branches, not memory, limit the engines, so sifting down
// always walks to the leaves with conditional moves; slots beyond the last key hold the largest value, so that four
// children can always be compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emplace {

__extension__ typedef unsigned __int128 WideKey;

template <class Key>
class KeyHeap {
 public:
  static constexpr Key none = ~Key{0};

  // Room for `capacity` keys, and for the rest of the tree's last level.
  void reserve(std::size_t capacity) {
    capacity_ = capacity;
    std::size_t nodes = 1;
    for (std::size_t level = 1; nodes < capacity + 1; nodes += level) level *= 4;
    keys_.assign(nodes + 4, none);
    clear();
  }
  void clear() {
    std::fill(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(size_), none);
    size_ = 0;
    inner_ = 0;
  }

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] Key top() const { return keys_[0]; }

  void push(Key key) {
    std::size_t i = size_++;
    if (i > last_of(inner_)) inner_ = 4 * inner_ + 1;
    for (; i > 0; i = (i - 1) / 4) {
      const Key parent = keys_[(i - 1) / 4];
      if (parent < key) break;
      keys_[i] = parent;
    }
    keys_[i] = key;
  }

  // Takes the top away and puts `key` in, in one walk; with `key` none it only takes the top away.
  void replace_top(Key key) {
    const bool shrink = key == none;
    size_ -= shrink;
    const Key last = keys_[size_];  // none unless shrinking
    keys_[size_] = none;
    if (size_ == 0) return;
    sift_down(shrink ? last : key);
    if (shrink && inner_ > 0 && size_ <= inner_) inner_ /= 4;
  }

 private:
  // Nodes 0 .. inner_ - 1 stand above the last level that is in use.
  static std::size_t last_of(std::size_t inner) { return 4 * inner; }

  void sift_down(Key key) {
    Key* const keys = keys_.data();
    std::size_t i = 0;
    while (i < inner_) {
      const std::size_t child = 4 * i + 1;
      const Key a = keys[child], b = keys[child + 1], c = keys[child + 2], d = keys[child + 3];
      const Key ab = b < a ? b : a, cd = d < c ? d : c;
      const std::size_t ab_at = b < a, cd_at = 2 + std::size_t{d < c};
      const Key smallest = cd < ab ? cd : ab;
      const std::size_t at = child + (cd < ab ? cd_at : ab_at);
      keys[i] = smallest < key ? smallest : key;
      key = smallest < key ? key : smallest;
      i = at;
    }
    keys[i] = key;
  }

  std::vector<Key> keys_;
  std::size_t size_ = 0, inner_ = 0, capacity_ = 0;
};

}  // namespace emplace
