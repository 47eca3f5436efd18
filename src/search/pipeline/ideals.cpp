#include "search/pipeline/ideals.hpp"

#include <algorithm>
#include <unordered_map>

#include "emplace/base/random.hpp"

namespace emplace::search {

namespace {

using Word = std::uint64_t;

// Ideals of one size: their members and the classes that may come next.
struct Layer {
  std::vector<Word> bits;  // rows of `words`
  std::vector<Word> hash;
  Lists ready;

  [[nodiscard]] std::size_t count() const { return hash.size(); }
};

struct Link {
  std::uint32_t larger, smaller, removed;  // larger, smaller: positions in their layers
};

class Enumeration {
 public:
  Enumeration(const Lists& before, const Lists& after)
      : before_(before), after_(after), classes_(before.rows()), words_((classes_ + 63) / 64) {
    Stream random{{.seed = 0x1dea15, .purpose = Purpose::search}};
    for (std::size_t c = 0; c < classes_; ++c) key_.push_back(random.bits64());
    layer_.bits.assign(words_, 0);
    layer_.hash.assign(1, 0);
    for (std::uint32_t c = 0; c < classes_; ++c)
      if (before[c].empty()) layer_.ready.items.push_back(c);
    layer_.ready.begin.push_back(static_cast<std::uint32_t>(layer_.ready.items.size()));
    ideals_.smaller.begin.push_back(0);  // the empty set has no smaller ideal
  }

  // Returns nothing if there are more than `limit` ideals or `stop` returns true.
  std::optional<Ideals> run(std::size_t limit, const std::function<bool()>& stop) {
    limit_ = limit;
    for (std::size_t size = 0; size < classes_; ++size) {
      const std::size_t first = ideals_.count() - layer_.count();
      if (too_wide() || !grow(limit - std::min(limit, ideals_.count()), stop)) return std::nullopt;
      std::ranges::stable_sort(links_, {}, &Link::larger);
      for (std::size_t i = 0; i < links_.size(); ++i) {
        ideals_.smaller.items.push_back(static_cast<std::uint32_t>(first + links_[i].smaller));
        ideals_.removed.push_back(links_[i].removed);
        if (i + 1 == links_.size() || links_[i + 1].larger != links_[i].larger)
          ideals_.smaller.begin.push_back(static_cast<std::uint32_t>(ideals_.smaller.items.size()));
      }
    }
    return std::move(ideals_);
  }

 private:
  // An ideal together with any subset of the w classes that may come next is an ideal, so there are at least 2^w.
  // Checked here to stop before lists of w classes for many ideals fill the memory.
  [[nodiscard]] bool too_wide() const {
    for (std::size_t i = 0; i < layer_.count(); ++i)
      if (const std::size_t width = layer_.ready[i].size(); width >= 64 || std::size_t{1} << width > limit_)
        return true;
    return false;
  }

  // Makes the layer of ideals with one class more; returns false if it would have more than `limit` ideals.
  bool grow(std::size_t limit, const std::function<bool()>& stop) {
    Layer next;
    links_.clear();
    std::unordered_multimap<Word, std::uint32_t> known;
    std::vector<Word> set(words_);
    for (std::uint32_t from = 0; from < layer_.count(); ++from) {
      if (from % 1024 == 0 && stop && stop()) return false;
      for (const std::uint32_t c : layer_.ready[from]) {
        std::copy_n(layer_.bits.begin() + static_cast<std::ptrdiff_t>(from * words_), words_, set.begin());
        set[c / 64] |= Word{1} << c % 64;
        const Word hash = layer_.hash[from] ^ key_[c];
        const auto [begin, end] = known.equal_range(hash);
        const auto same = std::find_if(begin, end, [&](const auto& entry) {
          return std::equal(set.begin(), set.end(),
                            next.bits.begin() + static_cast<std::ptrdiff_t>(entry.second * words_));
        });
        if (same != end) {
          links_.push_back({same->second, from, c});
          continue;
        }
        if (next.count() == limit) return false;
        const auto number = static_cast<std::uint32_t>(next.count());
        links_.push_back({number, from, c});
        known.emplace(hash, number);
        next.bits.insert(next.bits.end(), set.begin(), set.end());
        next.hash.push_back(hash);
        add_ready(set, layer_.ready[from], c, next.ready);
      }
    }
    layer_ = std::move(next);
    return true;
  }

  void add_ready(const std::vector<Word>& set, std::span<const std::uint32_t> ready, std::uint32_t taken,
                 Lists& row) const {
    const auto in_set = [&](std::uint32_t c) { return (set[c / 64] >> c % 64 & 1) != 0; };
    for (const std::uint32_t c : ready)
      if (c != taken) row.items.push_back(c);
    for (const std::uint32_t c : after_[taken])
      if (std::ranges::all_of(before_[c], in_set)) row.items.push_back(c);
    row.begin.push_back(static_cast<std::uint32_t>(row.items.size()));
  }

  const Lists& before_;
  const Lists& after_;
  const std::size_t classes_, words_;
  std::vector<Word> key_;
  Layer layer_;
  std::vector<Link> links_;
  std::size_t limit_ = 0;
  Ideals ideals_;
};

}  // namespace

std::optional<Ideals> enumerate_ideals(const Lists& before, const Lists& after, std::size_t limit,
                                       const std::function<bool()>& stop) {
  return Enumeration(before, after).run(limit, stop);
}

Ideals prefixes_of(std::span<const std::uint32_t> order) {
  Ideals chain;
  chain.smaller.begin.push_back(0);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    chain.smaller.items.push_back(i);
    chain.smaller.begin.push_back(i + 1);
    chain.removed.push_back(order[i]);
  }
  return chain;
}

}  // namespace emplace::search
