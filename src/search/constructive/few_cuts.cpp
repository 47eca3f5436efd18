#include "search/constructive/few_cuts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace emplace::search {

namespace {

// The time of the dynamic program grows with the square of the number of boundaries.
constexpr std::size_t most_boundaries = 400;
// Its memory grows with the number of tensors that cross each boundary.
constexpr std::uint64_t most_crossings = 10'000'000;

struct UnitGraphLists {
  std::vector<std::vector<std::uint32_t>> producers;          // U: units whose tensors the unit reads
  std::vector<std::vector<std::uint32_t>> forward_producers;  // the same, only those with forward ops
  std::vector<std::uint8_t> forward;                          // U: 1 if it has a forward op
};

UnitGraphLists unit_lists(const Problem& problem, const Units& units) {
  const std::vector<std::uint32_t>& unit_of = units.grouping.unit_of_op;
  UnitGraphLists lists{std::vector<std::vector<std::uint32_t>>(units.count()),
                       std::vector<std::vector<std::uint32_t>>(units.count()),
                       std::vector<std::uint8_t>(units.count(), 0)};
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    if (!problem.is_backward(OpId{op})) lists.forward[unit_of[op]] = 1;
  for (std::size_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    const std::uint32_t from = unit_of[problem.producer[tensor].index()];
    for (const std::uint32_t consumer : problem.consumers[tensor]) {
      const std::uint32_t to = unit_of[consumer];
      if (to == from) continue;
      lists.producers[to].push_back(from);
      if (lists.forward[from] != 0) lists.forward_producers[to].push_back(from);
    }
  }
  return lists;
}

// Each unit directly after those that it reads and that no unit before has read: first those at the end of long paths,
// so that units at the beginning of a path (weights, inputs) come directly before their first reader.
std::vector<std::uint32_t> depth_first(UnitGraphLists lists) {
  const std::size_t count = lists.producers.size();
  std::vector<std::uint32_t> depth(count, 0);
  for (std::uint32_t unit = 0; unit < count; ++unit) {
    for (const std::uint32_t producer : lists.producers[unit])
      if (producer < unit) depth[unit] = std::max(depth[unit], depth[producer] + 1);
    std::ranges::stable_sort(lists.producers[unit], std::ranges::greater(), [&](std::uint32_t p) { return depth[p]; });
  }
  std::vector<std::uint8_t> is_read(count, 0), seen(count, 0);
  for (const auto& producers : lists.producers)
    for (const std::uint32_t unit : producers) is_read[unit] = 1;
  std::vector<std::uint32_t> sequence;
  struct Visit {
    std::uint32_t unit;
    std::size_t next;
  };
  std::vector<Visit> path;
  const auto visit = [&](std::uint32_t root) {
    if (seen[root] != 0) return;
    seen[root] = 1;
    path.push_back({root, 0});
    while (!path.empty()) {
      auto& [unit, next] = path.back();
      if (next == lists.producers[unit].size()) {
        sequence.push_back(unit);
        path.pop_back();
        continue;
      }
      const std::uint32_t producer = lists.producers[unit][next++];
      if (seen[producer] != 0) continue;
      seen[producer] = 1;
      path.push_back({producer, 0});
    }
  };
  for (std::uint32_t unit = 0; unit < count; ++unit)
    if (is_read[unit] == 0) visit(unit);
  for (std::uint32_t unit = 0; unit < count; ++unit) visit(unit);  // of cycles between units, which nothing else reads
  return sequence;
}

// Backward units go to the place of the last forward unit that they read, or of the backward units that they read.
std::vector<std::uint32_t> folded(const UnitGraphLists& lists, const std::vector<std::uint32_t>& sequence) {
  std::vector<std::uint32_t> place(sequence.size());
  for (std::uint32_t i = 0; i < sequence.size(); ++i) place[sequence[i]] = i;
  for (const std::uint32_t unit : sequence) {
    if (lists.forward[unit] != 0) continue;
    const auto by_place = [&](std::uint32_t a, std::uint32_t b) { return place[a] < place[b]; };
    const auto& forward = lists.forward_producers[unit];
    const auto& all = lists.producers[unit];
    if (!forward.empty())
      place[unit] = place[*std::ranges::max_element(forward, by_place)];
    else if (!all.empty())
      place[unit] = place[*std::ranges::min_element(all, by_place)];
  }
  std::vector<std::uint32_t> result = sequence;
  std::ranges::stable_sort(result, {}, [&](std::uint32_t unit) { return place[unit]; });
  return result;
}

}  // namespace

std::vector<std::vector<std::uint32_t>> sequences_for_few_cuts(const Problem& problem, const Units& units) {
  const UnitGraphLists lists = unit_lists(problem, units);
  std::vector<std::uint32_t> topological(units.count());
  std::iota(topological.begin(), topological.end(), 0U);
  std::vector<std::vector<std::uint32_t>> sequences{topological};
  const auto add = [&](std::vector<std::uint32_t> sequence) {
    if (std::ranges::find(sequences, sequence) == sequences.end()) sequences.push_back(std::move(sequence));
  };
  const std::vector<std::uint32_t> deep = depth_first(lists);
  add(deep);
  add(folded(lists, topological));
  add(folded(lists, deep));
  return sequences;
}

FewCutSplitter::FewCutSplitter(const Problem& problem, const Units& units, std::span<const std::uint32_t> sequence)
    : problem_(problem), units_(units), sequence_(sequence.begin(), sequence.end()), edges_(units.count(), 0) {
  const std::vector<std::uint32_t>& unit_of = units.grouping.unit_of_op;
  std::vector<std::uint32_t> position(units.count());
  for (std::uint32_t i = 0; i < sequence_.size(); ++i) position[sequence_[i]] = i;
  std::vector<std::uint32_t> crossing(units.count() + 1, 0);  // differences first, then sums
  for (std::size_t tensor = 0; tensor < problem.tensor_count(); ++tensor) {
    const std::uint32_t producer = unit_of[problem.producer[tensor].index()];
    Span span{position[producer], position[producer]};
    ++edges_[producer];
    for (const std::uint32_t consumer : problem.consumers[tensor]) {
      const std::uint32_t at = position[unit_of[consumer]];
      if (unit_of[consumer] != producer) ++edges_[unit_of[consumer]];
      span = {std::min(span.first, at), std::max(span.last, at)};
    }
    if (span.first == span.last) continue;
    spans_.push_back(span);
    ++crossing[span.first + 1];
    --crossing[span.last + 1];
  }
  std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
  choose_boundaries(crossing);
  count_fresh_cuts();
}

// Of the positions with few enough tensors, at most `most_boundaries`: the best of each stretch of the sequence.
void FewCutSplitter::choose_boundaries(const std::vector<std::uint32_t>& crossing) {
  const auto count = static_cast<std::uint32_t>(sequence_.size());
  boundaries_ = {0};
  std::uint64_t crossings = 0;
  const std::size_t stretch = (count + most_boundaries - 1) / most_boundaries;
  for (std::size_t begin = 1; begin < count; begin += stretch) {
    const auto first = crossing.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto end = crossing.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(begin + stretch, count));
    const auto best = std::min_element(first, end);
    if (*best > problem_.max_cuts || crossings + *best > most_crossings) continue;
    boundaries_.push_back(static_cast<std::uint32_t>(best - crossing.begin()));
    crossings += *best;
  }
  boundaries_.push_back(count);
}

void FewCutSplitter::count_fresh_cuts() {
  const std::size_t size = boundaries_.size();
  // For each boundary, the first units of the tensors that cross it.
  std::vector<std::vector<std::uint32_t>> begins(size);
  for (const Span& span : spans_)
    for (auto b = std::upper_bound(boundaries_.begin(), boundaries_.end(), span.first);
         b != boundaries_.end() && *b <= span.last; ++b)
      begins[static_cast<std::size_t>(b - boundaries_.begin())].push_back(span.first);
  fresh_.assign(size * size, 0);
  for (std::size_t later = 1; later < size; ++later) {
    std::ranges::sort(begins[later]);
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      fresh_[later * size + earlier] = static_cast<std::uint32_t>(
          begins[later].end() - std::lower_bound(begins[later].begin(), begins[later].end(), boundaries_[earlier]));
  }
}

std::vector<std::vector<FewCutSplitter::Piece>> FewCutSplitter::sums(std::span<const std::uint8_t> devices,
                                                                     MemoryView view) const {
  std::vector<std::vector<Piece>> result;
  for (const std::uint8_t device : devices) {
    std::vector<Piece>& row = result.emplace_back();
    Piece sum;
    std::size_t position = 0;
    for (const std::uint32_t boundary : boundaries_) {
      for (; position < boundary; ++position) {
        const std::uint32_t unit = sequence_[position];
        if (units_.grouping.allows(unit, device)) {
          sum.time += units_.time[unit * units_.devices + device];
          sum.bytes += units_.memory(unit, view);
        } else {
          sum.strangers += edges_[unit];
        }
      }
      row.push_back(sum);
    }
  }
  return result;
}

// The split with the fewest cuts among those whose pieces last at most `limit`.
FewCutSplitter::Split FewCutSplitter::fill(std::span<const std::uint8_t> devices,
                                           const std::vector<std::vector<Piece>>& sums, Ticks limit) const {
  constexpr std::uint64_t impossible = std::numeric_limits<std::uint64_t>::max();
  const std::size_t size = boundaries_.size();
  std::vector<std::uint64_t> cuts(size, impossible);  // of the units before a boundary, on the devices so far
  cuts[0] = 0;
  std::vector<std::vector<std::uint32_t>> begin_of_piece;  // by device and end of its piece
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const Bytes memory = problem_.devices[devices[k]].memory;
    std::vector<std::uint64_t> next = cuts;
    std::vector<std::uint32_t>& begins = begin_of_piece.emplace_back(size);
    for (std::uint32_t end = 0; end < size; ++end) {
      begins[end] = end;  // no piece
      for (std::uint32_t begin = end; begin-- > 0;) {
        const Piece &from = sums[k][begin], &to = sums[k][end];
        if (to.time - from.time > limit || to.bytes - from.bytes > memory) break;
        if (cuts[begin] == impossible) continue;
        const std::uint64_t all = cuts[begin] + fresh_[end * size + begin] + (to.strangers - from.strangers);
        if (all >= next[end]) continue;
        next[end] = all;
        begins[end] = begin;
      }
    }
    cuts = std::move(next);
  }
  if (cuts.back() > problem_.max_cuts) return std::nullopt;
  std::vector<std::uint8_t> of_unit(units_.count());
  std::size_t end = size - 1;
  for (std::size_t k = devices.size(); k-- > 0;) {
    const std::size_t begin = begin_of_piece[k][end];
    for (std::size_t i = boundaries_[begin]; i < boundaries_[end]; ++i)
      of_unit[sequence_[i]] = units_.device_or_fastest(sequence_[i], devices[k]);
    end = begin;
  }
  return of_unit;
}

FewCutSplitter::Split FewCutSplitter::fewest_cuts(std::span<const std::uint8_t> devices, MemoryView view) const {
  return fill(devices, sums(devices, view), total_limit);
}

FewCutSplitter::Split FewCutSplitter::shortest(std::span<const std::uint8_t> devices, MemoryView view) const {
  const auto pieces = sums(devices, view);
  Ticks too_little = 0, enough = 1;
  for (const auto& of_device : pieces) enough = std::max(enough, of_device.back().time);
  Split split = fill(devices, pieces, enough);
  while (split && enough - too_little > std::max<Ticks>(1, enough / 1000)) {
    const Ticks middle = too_little + (enough - too_little) / 2;
    if (Split next = fill(devices, pieces, middle)) {
      split = std::move(next);
      enough = middle;
    } else {
      too_little = middle;
    }
  }
  return split;
}

}  // namespace emplace::search
