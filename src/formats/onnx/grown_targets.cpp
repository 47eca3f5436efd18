#include "formats/onnx/grown_targets.hpp"

#include <algorithm>

#include "emplace/graph/graph.hpp"

namespace emplace::formats {

namespace {

// Neighbouring sizes of the input and of the target with equal products. Sizes of 1 between groups are in none.
struct SizeGroup {
  std::size_t input_begin = 0, input_end = 0, target_begin = 0, target_end = 0;
  std::int64_t outer = 1, inner = 1;  // sizes that have grown from 1 and are of this group now
};

class TargetGrowth {
 public:
  TargetGrowth(const ExportedReshape& exported, std::span<const std::int64_t> now,
               std::span<const ReplacedSize> replaced)
      : before_(exported.input), now_(now), target_(exported.target), replaced_(replaced), sizes_(exported.output) {
    is_free_.resize(sizes_.size());
    for (std::size_t j = 0; j < sizes_.size(); ++j)
      if (is_open(j) && sizes_[j] == 1) open_one_ = j;
    divide(exported.output);
  }

  // False if there is no unique answer.
  bool grow() {
    for (std::size_t gap = 0; gap <= groups_.size(); ++gap)
      if (!grow_ones(gap)) return false;
    if (open_one_) sizes_[*open_one_] *= into_open_one_;
    return std::ranges::all_of(groups_, [this](const SizeGroup& group) { return grow_group(group); });
  }
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const { return sizes_; }

 private:
  void divide(const std::vector<std::int64_t>& output) {
    std::size_t i = 0, j = 0;
    while (true) {
      while (i < before_.size() && before_[i] == 1) ++i;
      while (j < output.size() && output[j] == 1) ++j;
      if (i == before_.size() || j == output.size()) return;
      SizeGroup group{.input_begin = i, .target_begin = j};
      std::int64_t left = before_[i++], right = output[j++];
      while (left != right)
        if (left < right)
          left *= before_[i++];
        else
          right *= output[j++];
      group.input_end = i;
      group.target_end = j;
      groups_.push_back(group);
    }
  }

  [[nodiscard]] bool is_open(std::size_t position) const { return target_[position] == -1; }

  // Sizes of 1 before the group `gap`, or behind the last one.
  bool grow_ones(std::size_t gap) {
    const bool is_first = gap == 0, is_last = gap == groups_.size();
    const std::size_t input_end = is_last ? before_.size() : groups_[gap].input_begin,
                      target_end = is_last ? sizes_.size() : groups_[gap].target_begin;
    std::size_t i = is_first ? 0 : groups_[gap - 1].input_end, j = is_first ? 0 : groups_[gap - 1].target_end;
    for (; i < input_end; ++i) {
      if (now_[i] != 1 && j == target_end) {
        if (!attach(now_[i], gap)) return false;
      } else if (j < target_end && (now_[i] != 1 || input_end - i <= target_end - j)) {
        sizes_[j++] = now_[i];
      }
    }
    for (; j < target_end; ++j) is_free_[j] = true;
    return true;
  }

  // A size of 1 that has no place of its own in the target.
  bool attach(std::int64_t size, std::size_t gap) {
    if (open_one_) {
      into_open_one_ *= size;
      return true;
    }
    if (groups_.empty()) return false;
    const bool is_first = gap == 0, is_last = gap == groups_.size();
    const bool into_next = !is_last && (is_first || is_open(groups_[gap].target_begin));
    const bool into_previous = !is_first && (is_last || is_open(groups_[gap - 1].target_end - 1));
    if (into_next == into_previous) return false;
    (into_next ? groups_[gap].outer : groups_[gap - 1].inner) *= size;
    return true;
  }

  [[nodiscard]] bool changed(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i)
      if (before_[i] != now_[i]) return true;
    return false;
  }

  bool grow_group(const SizeGroup& group) {
    std::int64_t wanted = group.outer * group.inner, stated = 1;
    for (std::size_t i = group.input_begin; i < group.input_end; ++i) wanted *= now_[i];
    for (std::size_t j = group.target_begin; j < group.target_end; ++j) stated *= sizes_[j];
    if (wanted == stated && !changed(group.input_begin, group.input_end)) return true;
    if (take_replaced(group, wanted)) return true;
    const std::size_t first = group.target_begin, last = group.target_end - 1;
    const bool is_outermost = group.inner == 1 && !changed(group.input_begin + 1, group.input_end) &&
                              (group.input_end - group.input_begin > 1 || !changed(group.input_begin, group.input_end));
    const bool is_innermost = group.outer == 1 && !changed(group.input_begin, group.input_end);
    if (first == last || is_outermost) return scale(first, wanted, stated);
    if (is_innermost) return scale(last, wanted, stated);
    for (std::size_t j = first; j <= last; ++j)
      if (is_open(j)) return scale(j, wanted, stated);
    return false;
  }

  bool scale(std::size_t position, std::int64_t wanted, std::int64_t stated) {
    const std::int64_t others = stated / sizes_[position];
    if (wanted % others != 0) return false;
    sizes_[position] = wanted / others;
    return true;
  }

  // Replaces sizes of the group, and of the ones beside it that are not used otherwise, as the user has replaced them:
  // as many as possible, each at its first place.
  bool take_replaced(const SizeGroup& group, std::int64_t wanted) {
    constexpr std::size_t most_replaced = 6;
    std::size_t begin = group.target_begin, end = group.target_end;
    while (begin > 0 && is_free_[begin - 1]) --begin;
    while (end < sizes_.size() && is_free_[end]) ++end;
    const std::size_t count = std::min(replaced_.size(), most_replaced);
    for (std::uint32_t subset = (1U << count) - 1; subset > 0; --subset) {
      std::vector<std::int64_t> tried(sizes_.begin() + static_cast<std::ptrdiff_t>(begin),
                                      sizes_.begin() + static_cast<std::ptrdiff_t>(end));
      std::vector<bool> done(tried.size());
      for (std::size_t r = 0; r < count; ++r) {
        if ((subset >> r & 1U) == 0) continue;
        for (std::size_t i = 0; i < tried.size(); ++i)
          if (!done[i] && tried[i] == replaced_[r].first) {
            tried[i] = replaced_[r].second;
            done[i] = true;
            break;
          }
      }
      if (Shape(tried).elements() != wanted) continue;
      std::ranges::copy(tried, sizes_.begin() + static_cast<std::ptrdiff_t>(begin));
      for (std::size_t j = begin; j < end; ++j)
        if (sizes_[j] != 1) is_free_[j] = false;
      return true;
    }
    return false;
  }

  const std::vector<std::int64_t>& before_;
  std::span<const std::int64_t> now_;
  const std::vector<std::int64_t>& target_;
  std::span<const ReplacedSize> replaced_;
  std::vector<std::int64_t> sizes_;
  std::vector<bool> is_free_;            // sizes of 1 that no size of 1 of the input became
  std::optional<std::size_t> open_one_;  // the size that the target leaves open, if it was 1
  std::int64_t into_open_one_ = 1;       // sizes that have grown from 1 and have no other place
  std::vector<SizeGroup> groups_;
};

}  // namespace

std::optional<std::vector<std::int64_t>> grown_target(const ExportedReshape& exported,
                                                      std::span<const std::int64_t> now,
                                                      std::span<const ReplacedSize> replaced) {
  const auto elements = Shape(std::vector(now.begin(), now.end())).elements();
  if (!elements || *elements == 0) return std::nullopt;
  if (exported.target.size() == 1) return std::vector{*elements};
  TargetGrowth growth(exported, now, replaced);
  if (!growth.grow() || Shape(growth.sizes()).elements() != elements) return std::nullopt;
  return growth.sizes();
}

}  // namespace emplace::formats
