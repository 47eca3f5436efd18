#include "search/pipeline/work_windows.hpp"

#include <algorithm>

namespace emplace::search {

namespace {

// The first of [first, end) that does not have the property, which all before it have; `end` if all have it.
template <class Property>
std::uint32_t first_without(std::uint32_t first, std::uint32_t end, const Property& property) {
  while (first < end) {
    const std::uint32_t middle = first + (end - first) / 2;
    if (property(middle))
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

}  // namespace

std::vector<std::int64_t> kind_weights(const Problem& problem, const std::vector<DeviceKind>& kinds,
                                       const std::vector<std::uint32_t>& class_of_op, std::size_t classes,
                                       const Deadline& deadline) {
  const std::size_t devices = problem.device_count();
  std::vector<Ticks> time(classes * devices, 0);
  for (std::size_t op = 0; op < problem.op_count(); ++op)
    for (std::size_t d = 0; d < devices; ++d) {
      Ticks& sum = time[class_of_op[op] * devices + d];
      const Ticks each = problem.op_time[op * devices + d];
      sum = sum == cannot_run || each == cannot_run ? cannot_run : sum + each;
    }
  UnitTimes units{devices, {}};
  for (std::size_t c = 0; c < classes; ++c) {
    const auto row = time.begin() + static_cast<std::ptrdiff_t>(c * devices);
    const auto end = row + static_cast<std::ptrdiff_t>(devices);
    if (std::any_of(row, end, [](Ticks each) { return each != cannot_run; }))
      units.time.insert(units.time.end(), row, end);
  }
  const LoadWeights weights = best_load_weights(units, quick_load_weights(units), deadline);
  std::vector<std::int64_t> of_kind;  // equal devices may have unequal weights; the mean gives a bound that is no worse
  for (const DeviceKind& kind : kinds) {
    std::int64_t sum = 0;
    for (const std::uint8_t d : kind.devices) sum += weights.of_device[d];
    of_kind.push_back(sum / static_cast<std::int64_t>(kind.devices.size()));
  }
  return of_kind;
}

WorkWindows::WorkWindows(const Ideals& ideals, const std::vector<DeviceKind>& kinds, const PieceLoad& piece,
                         const std::vector<std::size_t>& stride, std::size_t states,
                         const std::vector<std::int64_t>& weights)
    : kinds_(kinds), stride_(stride), states_(states) {
  if (ideals.smaller.items.size() + 1 == ideals.count())
    sum_up(ideals, piece);
  else if (!weights.empty())
    weigh(ideals, piece, weights);
}

void WorkWindows::sum_up(const Ideals& ideals, const PieceLoad& piece) {
  const std::size_t kinds = kinds_.size();
  time_.assign(kinds, 0);
  cannot_.assign(kinds, 0);
  bytes_.assign(1, 0);
  for (const std::uint32_t c : ideals.removed) {
    for (std::size_t k = 0; k < kinds; ++k) {
      const Ticks time = piece.time(c, k);
      time_.push_back(time_[time_.size() - kinds] + (time == cannot_run ? 0 : time));
      cannot_.push_back(cannot_[cannot_.size() - kinds] + (time == cannot_run ? 1 : 0));
    }
    bytes_.push_back(bytes_.back() + piece.bytes(c));
  }
  furthest_.assign(states_, 0);
  nearest_.assign(states_, 0);
}

bool WorkWindows::holds(std::size_t kind, std::uint32_t from, std::uint32_t to) const {
  const std::size_t a = from * kinds_.size() + kind, b = to * kinds_.size() + kind;
  return time_[b] - time_[a] <= most_ && cannot_[b] == cannot_[a] && bytes_[to] - bytes_[from] <= kinds_[kind].memory;
}

void WorkWindows::limit(Ticks most) {
  most_ = most;
  if (furthest_.empty()) return;
  const auto last = static_cast<std::uint32_t>(bytes_.size() - 1);
  nearest_[states_ - 1] = last;
  // A device that starts later ends at least as far, so only the furthest start has to be considered.
  for (std::size_t state = 1; state < states_; ++state) {
    std::uint32_t reach = 0, rest = last;  // for the devices of the state, from either end of the order
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      if (state / stride_[k] % (kinds_[k].devices.size() + 1) == 0) continue;
      const std::size_t before = state - stride_[k];
      const std::uint32_t from = furthest_[before], to = nearest_[states_ - 1 - before];
      const auto ends = [&](std::uint32_t i) { return holds(k, from, i); };
      const auto misses = [&](std::uint32_t i) { return !holds(k, i, to); };
      reach = std::max(reach, first_without(from, last + 1, ends) - 1);
      rest = std::min(rest, first_without(0, to + 1, misses));
    }
    furthest_[state] = reach;
    nearest_[states_ - 1 - state] = rest;
  }
}

void WorkWindows::weigh(const Ideals& ideals, const PieceLoad& piece, const std::vector<std::int64_t>& weights) {
  work_.assign(ideals.count(), 0);
  for (std::size_t ideal = 1; ideal < ideals.count(); ++ideal) {
    const std::uint32_t link = ideals.smaller.begin[ideal], c = ideals.removed[link];
    Wide least = -1;
    for (std::size_t k = 0; k < kinds_.size(); ++k)
      if (const Ticks time = piece.time(c, k); time != cannot_run)
        if (const Wide weighted = Wide{time} * weights[k]; least < 0 || weighted < least) least = weighted;
    work_[ideal] = work_[ideals.smaller.items[link]] + std::max<Wide>(0, least);
  }
  for (std::size_t state = 0; state < states_; ++state) {
    Wide used = 0, left = 0;
    for (std::size_t k = 0; k < kinds_.size(); ++k) {
      const std::size_t all = kinds_[k].devices.size(), count = state / stride_[k] % (all + 1);
      used += Wide{weights[k]} * static_cast<std::int64_t>(count);
      left += Wide{weights[k]} * static_cast<std::int64_t>(all - count);
    }
    capacity_.push_back(used);
    capacity_left_.push_back(left);
  }
}

}  // namespace emplace::search
