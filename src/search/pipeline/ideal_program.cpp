#include "search/pipeline/ideal_program.hpp"

#include <algorithm>
#include <utility>

#include "emplace/base/error.hpp"

namespace emplace::search {

std::size_t IdealProgram::most_ideals(const std::vector<DeviceKind>& kinds) {
  constexpr std::size_t entries = std::size_t{1} << 28;
  std::size_t states = 1;
  for (const DeviceKind& kind : kinds) {
    states *= kind.devices.size() + 1;
    if (states > entries) return 0;
  }
  return entries / states;
}

namespace {

std::vector<std::size_t> strides(const std::vector<DeviceKind>& kinds) {
  std::vector<std::size_t> stride(1, 1);
  for (const DeviceKind& kind : kinds) stride.push_back(stride.back() * (kind.devices.size() + 1));
  return stride;
}

}  // namespace

IdealProgram::IdealProgram(const Ideals& ideals, const std::vector<DeviceKind>& kinds, PieceLoad& piece,
                           std::function<bool()> stop, const std::vector<std::int64_t>& weights)
    : ideals_(ideals),
      kinds_(kinds),
      piece_(piece),
      stop_(std::move(stop)),
      stride_(strides(kinds)),
      states_(stride_.back()),
      windows_(ideals, kinds, piece, stride_, states_, weights),
      open_(ideals.count(), 0),
      seen_(ideals.count(), 0) {
  EMPLACE_CHECK(ideals.count() <= most_ideals(kinds));
}

bool IdealProgram::within_limits(std::size_t kind) const {
  const Ticks load = piece_.load(kind), forward = piece_.forward_load(kind);
  return piece_.allowed(kind) && load <= most_ && forward <= forward_most_ && load + forward <= both_most_;
}

template <class Visit>
void IdealProgram::walk(std::uint32_t ideal, Visit&& visit) {
  ++walks_;
  seen_[ideal] = walks_;
  path_.assign(1, {ideal, ideals_.smaller.begin[ideal], 0});
  bool done = visit(ideal);
  while (!path_.empty()) {
    Step& top = path_.back();
    if (done || top.next == ideals_.smaller.begin[top.ideal + 1]) {
      if (path_.size() > 1) piece_.remove(top.added);
      path_.pop_back();
      continue;
    }
    const std::uint32_t item = top.next++;
    const std::uint32_t inside = ideals_.smaller.items[item];
    if (seen_[inside] == walks_) continue;
    seen_[inside] = walks_;
    const std::uint32_t c = ideals_.removed[item];
    piece_.add(c);
    // Smaller ideals give larger pieces, so no split is lost by going no further.
    bool hope = false;
    for (std::size_t k = 0; k < kinds_.size() && !hope; ++k)
      hope = !piece_.hopeless(k, most_, forward_most_, both_most_);
    if (!hope) {
      piece_.remove(c);
      continue;
    }
    path_.push_back({inside, ideals_.smaller.begin[inside], c});
    done = visit(inside);
  }
}

void IdealProgram::relax(std::uint32_t ideal, std::uint32_t inside) {
  Ticks* const to = table_.data() + ideal * states_;
  const Ticks* const from = table_.data() + inside * states_;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    if (!within_limits(k)) continue;
    const Ticks load = piece_.load(k);
    const std::size_t stride = stride_[k], used = stride * kinds_[k].devices.size();
    for (std::size_t base = 0; base < states_; base += stride + used)
      for (std::size_t s = base; s < base + used; ++s)
        to[s + stride] = std::min(to[s + stride], std::max(from[s], load));
  }
}

// A device may stay idle, so a state with more devices is never worse.
void IdealProgram::allow_idle_devices(std::uint32_t ideal) {
  Ticks* const row = table_.data() + ideal * states_;
  for (std::size_t k = 0; k < kinds_.size(); ++k) {
    const std::size_t stride = stride_[k], used = stride * kinds_[k].devices.size();
    for (std::size_t base = 0; base < states_; base += stride + used)
      for (std::size_t s = base; s < base + used; ++s) row[s + stride] = std::min(row[s + stride], row[s]);
  }
}

void IdealProgram::close_states(std::uint32_t ideal) {
  Ticks* const row = table_.data() + ideal * states_;
  for (std::size_t s = 0; s < states_; ++s)
    if (!windows_.possible(ideal, s)) row[s] = infinite;
}

std::optional<Split> IdealProgram::solve(Ticks most, Ticks forward_most, Ticks both_most) {
  most_ = most;
  forward_most_ = forward_most;
  stopped_ = false;
  pairs_ = 0;
  both_most_ = std::min(both_most, most > total_limit - forward_most ? total_limit : most + forward_most);
  windows_.limit(both_most_);
  table_.assign(ideals_.count() * states_, infinite);
  std::fill_n(table_.begin(), states_, 0);
  const auto count = static_cast<std::uint32_t>(ideals_.count());
  if (stop_ && stop_()) stopped_ = true;
  for (std::uint32_t ideal = 0; ideal < count && !stopped_; ++ideal) {
    open_[ideal] = 0;
    for (std::size_t s = 0; s < states_ && open_[ideal] == 0; ++s) open_[ideal] = windows_.possible(ideal, s) ? 1 : 0;
    if (open_[ideal] == 0) continue;
    walk(ideal, [&](std::uint32_t inside) {
      if (++pairs_ % 4096 == 0 && stop_ && stop_()) stopped_ = true;
      if (inside != ideal && open_[inside] != 0) relax(ideal, inside);
      return stopped_;
    });
    allow_idle_devices(ideal);
    close_states(ideal);
  }
  if (stopped_ || table_.back() >= infinite) return std::nullopt;
  return trace();
}

Split IdealProgram::trace() {
  Split split;
  split.load = table_.back();
  std::size_t classes = 0;
  for (const std::uint32_t c : ideals_.removed) classes = std::max<std::size_t>(classes, c + 1);
  split.device_of_class.assign(classes, 0);
  auto ideal = static_cast<std::uint32_t>(ideals_.count() - 1);
  std::size_t state = states_ - 1;
  std::vector<std::size_t> left;
  for (const DeviceKind& kind : kinds_) left.push_back(kind.devices.size());
  while (ideal != 0) {
    const Ticks target = table_[ideal * states_ + state];
    std::uint32_t next = ideal;
    walk(ideal, [&](std::uint32_t inside) {
      if (inside == ideal) return false;
      for (std::size_t k = 0; k < kinds_.size(); ++k) {
        if (left[k] == 0 || !within_limits(k) || piece_.load(k) > target) continue;
        if (table_[inside * states_ + state - stride_[k]] > target) continue;
        const std::uint8_t device = kinds_[k].devices[--left[k]];
        state -= stride_[k];
        for (std::size_t i = 1; i < path_.size(); ++i) split.device_of_class[path_[i].added] = device;
        split.forward_load = std::max(split.forward_load, piece_.forward_load(k));
        next = inside;
        return true;
      }
      return false;
    });
    EMPLACE_CHECK(next != ideal);
    ideal = next;
  }
  return split;
}

std::optional<Split> least_load(IdealProgram& program, const simulate::PipelineOptions& options, Ticks most) {
  if (!options.separate_phases) return program.solve(most, total_limit, most);
  // Starting from the least backward load, each smaller forward load has a larger backward load. Solve for forward
  // loads below the last one, until even the least possible forward load could not make up for the larger backward
  // load.
  std::optional<Split> best, next = program.solve(most, most, most);
  const auto sum = [](const Split& split) { return split.load + split.forward_load; };
  while (next) {
    if (!best || sum(*next) < sum(*best)) best = next;
    if (next->forward_load == 0 || next->load >= sum(*best)) break;
    // A better split has a sum below the best and a forward load below the last.
    next = program.solve(sum(*best) - 1, next->forward_load - 1, sum(*best) - 1);
  }
  return best && sum(*best) <= most ? best : std::nullopt;
}

}  // namespace emplace::search
