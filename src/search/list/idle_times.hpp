// The idle times of one device between its ops, in blocks that know their longest one: a search for one that is long
// enough passes over whole blocks, so that a schedule with many short idle times is built in nearly linear time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "emplace/problem/problem.hpp"

namespace emplace::search {

class IdleTimes {
 public:
  struct Gap {
    Ticks begin = 0, end = 0;
  };

  // The earliest time at or after `from` at which the device is idle for `duration`; nothing if no idle time is long
  // enough.
  [[nodiscard]] std::optional<Ticks> first_fit(Ticks from, Ticks duration) const;
  // The last idle time that begins at or before `at`; nothing if there is none.
  [[nodiscard]] std::optional<Gap> at_or_before(Ticks at) const;
  // Does nothing if an idle time begins at the same time.
  void insert(Gap gap);
  // Does nothing if none begins then.
  void erase(Ticks begin);

 private:
  static constexpr std::size_t most_gaps = 64;   // of a block
  static constexpr std::size_t of_stretch = 64;  // blocks

  [[nodiscard]] std::size_t block_of(Ticks at) const;
  void measure(std::size_t block);
  void measure_stretch(std::size_t stretch);
  void measure_stretches_from(std::size_t block);

  std::vector<std::vector<Gap>> blocks_;  // each has a gap at least; all together ascending by begin
  std::vector<Ticks> first_, longest_;    // of each block: begin of its first gap, length of its longest
  std::vector<Ticks> longest_of_stretch_;
};

inline std::size_t IdleTimes::block_of(Ticks at) const {
  const auto after = std::upper_bound(first_.begin(), first_.end(), at);
  return after == first_.begin() ? 0 : static_cast<std::size_t>(after - first_.begin()) - 1;
}

inline std::optional<Ticks> IdleTimes::first_fit(Ticks from, Ticks duration) const {
  if (blocks_.empty()) return std::nullopt;
  std::size_t block = block_of(from);
  const auto later = [](Ticks at, const Gap& gap) { return at < gap.begin; };
  const std::vector<Gap>& here = blocks_[block];
  auto gap = std::upper_bound(here.begin(), here.end(), from, later);
  if (gap != here.begin() && std::prev(gap)->end - from >= duration) return from;
  const auto fits = [&](const Gap& idle) { return idle.end - idle.begin >= duration; };
  if (gap = std::find_if(gap, here.end(), fits); gap != here.end()) return gap->begin;
  for (++block; block < blocks_.size(); ++block) {
    if (block % of_stretch == 0 && longest_of_stretch_[block / of_stretch] < duration) {
      block += of_stretch - 1;
      continue;
    }
    if (longest_[block] >= duration) return std::ranges::find_if(blocks_[block], fits)->begin;
  }
  return std::nullopt;
}

inline std::optional<IdleTimes::Gap> IdleTimes::at_or_before(Ticks at) const {
  if (blocks_.empty() || first_.front() > at) return std::nullopt;
  const std::vector<Gap>& here = blocks_[block_of(at)];
  return *std::prev(
      std::upper_bound(here.begin(), here.end(), at, [](Ticks t, const Gap& gap) { return t < gap.begin; }));
}

inline void IdleTimes::insert(Gap gap) {
  if (blocks_.empty()) {
    blocks_.push_back({gap});
    first_.push_back(gap.begin);
    longest_.push_back(gap.end - gap.begin);
    measure_stretches_from(0);
    return;
  }
  const std::size_t block = block_of(gap.begin);
  std::vector<Gap>& here = blocks_[block];
  const auto at = std::ranges::lower_bound(here, gap.begin, {}, &Gap::begin);
  if (at != here.end() && at->begin == gap.begin) return;
  here.insert(at, gap);
  if (here.size() <= most_gaps) {
    measure(block);
    return;
  }
  const auto middle = here.begin() + most_gaps / 2;
  std::vector<Gap> second(middle, here.end());
  here.erase(middle, here.end());
  const auto next = static_cast<std::ptrdiff_t>(block) + 1;
  blocks_.insert(blocks_.begin() + next, std::move(second));
  first_.insert(first_.begin() + next, 0);
  longest_.insert(longest_.begin() + next, 0);
  measure_stretches_from(block);
  measure(block);
  measure(block + 1);
}

inline void IdleTimes::erase(Ticks begin) {
  if (blocks_.empty()) return;
  const std::size_t block = block_of(begin);
  std::vector<Gap>& here = blocks_[block];
  const auto at = std::ranges::lower_bound(here, begin, {}, &Gap::begin);
  if (at == here.end() || at->begin != begin) return;
  here.erase(at);
  if (!here.empty()) {
    measure(block);
    return;
  }
  const auto gone = static_cast<std::ptrdiff_t>(block);
  blocks_.erase(blocks_.begin() + gone);
  first_.erase(first_.begin() + gone);
  longest_.erase(longest_.begin() + gone);
  measure_stretches_from(block);
}

inline void IdleTimes::measure(std::size_t block) {
  first_[block] = blocks_[block].front().begin;
  longest_[block] = 0;
  for (const Gap& gap : blocks_[block]) longest_[block] = std::max(longest_[block], gap.end - gap.begin);
  measure_stretch(block / of_stretch);
}

inline void IdleTimes::measure_stretch(std::size_t stretch) {
  const auto begin = longest_.begin() + static_cast<std::ptrdiff_t>(stretch * of_stretch);
  const auto left = longest_.size() - stretch * of_stretch;
  longest_of_stretch_[stretch] =
      *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(std::min(left, of_stretch)));
}

inline void IdleTimes::measure_stretches_from(std::size_t block) {
  longest_of_stretch_.resize((longest_.size() + of_stretch - 1) / of_stretch);
  for (std::size_t stretch = block / of_stretch; stretch < longest_of_stretch_.size(); ++stretch)
    measure_stretch(stretch);
}

}  // namespace emplace::search
