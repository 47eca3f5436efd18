// A 4-ary minimum heap of distinct packed keys. Mispredicted branches, not memory, limit the engines, so sifting down
// always goes to a leaf, with conditional moves. Slots after the last key have the largest value, so that four children
// can always be compared.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace emplace::simulate {

__extension__ typedef unsigned __int128 WideKey;

template <class Key>
class KeyHeap {
 public:
  static constexpr Key none = ~Key{0};

  // Allocates room for `capacity` keys and for the rest of the tree's last level.
  void reserve(std::size_t capacity) {
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

  // Removes the top and inserts `key` in one walk; if `key` is `none`, only removes the top.
  void replace_top(Key key) {
    const Key shrink = Key{0} - Key{key == none};
    size_ += static_cast<std::size_t>(shrink);
    const Key last = keys_[size_];  // none unless shrinking
    keys_[size_] = none;
    if (size_ == 0) return;
    sift_down(choose(shrink, last, key));
    if (size_ <= inner_) inner_ /= 4;
  }

 private:
  // Nodes 0 .. inner_ - 1 are above the last level that is in use.
  static std::size_t last_of(std::size_t inner) { return 4 * inner; }

  // g++ 12 compiles a chain of `?:` to branches, and masks need more instructions than the two conditional moves that
  // are enough for each step below; therefore these steps are in assembly, with masks for other machines and for wide
  // keys.
  // All bits are set if a < b, else none.
  static Key below(Key a, Key b) { return Key{0} - Key{a < b}; }
  static Key choose(Key mask, Key yes, Key no) { return no ^ ((no ^ yes) & mask); }

  static void take_if_smaller(Key& key, std::size_t& at, Key other, std::size_t other_at) {
#if defined(__x86_64__) && defined(__GNUC__)
    if constexpr (sizeof(Key) == 8) {
      asm("cmpq %[key], %[other]\n\tcmovbq %[other], %[key]\n\tcmovbq %[other_at], %[at]"
          : [key] "+&r"(key), [at] "+&r"(at)
          : [other] "r"(other), [other_at] "r"(other_at)
          : "cc");
      return;
    }
#endif
    const Key smaller = below(other, key);
    key = choose(smaller, other, key);
    at = static_cast<std::size_t>(choose(smaller, other_at, at));
  }

  // Puts the smaller of the two first.
  static void order(Key& low, Key& high) {
#if defined(__x86_64__) && defined(__GNUC__)
    if constexpr (sizeof(Key) == 8) {
      Key kept = low;
      asm("cmpq %[low], %[high]\n\tcmovbq %[high], %[low]\n\tcmovbq %[kept], %[high]"
          : [low] "+&r"(low), [high] "+&r"(high)
          : [kept] "r"(kept)
          : "cc");
      return;
    }
#endif
    const Key swap = below(high, low);
    const Key kept = low;
    low = choose(swap, high, low);
    high = choose(swap, kept, high);
  }

  void sift_down(Key key) {
    Key* const keys = keys_.data();
    std::size_t i = 0;
    while (i < inner_) {
      const std::size_t child = 4 * i + 1;
      Key ab = keys[child], cd = keys[child + 2];
      std::size_t ab_at = child, cd_at = child + 2;
      take_if_smaller(ab, ab_at, keys[child + 1], child + 1);
      take_if_smaller(cd, cd_at, keys[child + 3], child + 3);
      take_if_smaller(ab, ab_at, cd, cd_at);
      order(ab, key);
      keys[i] = ab;
      i = ab_at;
    }
    keys[i] = key;
  }

  std::vector<Key> keys_;
  std::size_t size_ = 0, inner_ = 0;
};

}  // namespace emplace::simulate
