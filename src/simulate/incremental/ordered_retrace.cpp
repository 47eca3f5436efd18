// OrderedRun after a move: chooses which stretches of the order are walked again, and detects when the rest runs as in
// the base.
#include <algorithm>
#include <cstring>

#include "simulate/incremental/ordered_run.hpp"

namespace emplace::simulate {

namespace {
// Portable vectors of the compiler.
constexpr std::size_t lanes = OrderedRun::lanes;
using Lanes [[gnu::vector_size(lanes * sizeof(Ticks))]] = Ticks;
void load_lanes(Lanes& to, const Ticks* from) { std::memcpy(&to, from, sizeof to); }
}  // namespace

Ticks OrderedRun::retrace(const std::vector<std::uint32_t>& changed) {
  if (changed.empty()) return makespan_;
  walked_.clear();
  retry_at_ = looked_until_ = 0;
  Ticks makespan = 0;
  std::size_t next = 0;
  std::uint32_t boundary = changed[0] / spacing_;
  load(boundary);
  walked_.push_back({boundary * spacing_, 0});
  while (true) {
    const std::uint32_t begin = boundary * spacing_;
    const std::uint32_t end = std::min(begin + spacing_, ops_);
    const Ticks shift = walk<false>(begin, end);
    walked_.back().end = end;
    if (++boundary == boundaries_) {
      makespan = *std::max_element(free_.begin(), free_.end());
      break;
    }
    while (next < changed.size() && changed[next] < end) ++next;
    if (next == changed.size()) {
      if (!shifted_for_good(boundary, shift)) continue;
      makespan = makespan_ + shift;
      break;
    }
    const std::uint32_t jump = changed[next] / spacing_;
    if (shift == 0 && jump > boundary && as_in_base(boundary, jump * spacing_)) {
      boundary = jump;
      load(boundary);
      walked_.push_back({boundary * spacing_, 0});
    }
  }
  for (const Stretch& stretch : walked_)
    std::copy(arrival_.begin() + steps_[stretch.begin].out, arrival_.begin() + steps_[stretch.end].out,
              arrival_after_move_.begin() + steps_[stretch.begin].out);
  return makespan;
}

std::uint64_t OrderedRun::walked() const {
  std::uint64_t ops = 0;
  for (const Stretch& stretch : walked_) ops += stretch.end - stretch.begin;
  return ops;
}

// Whether everything from the boundary on starts as in the base, but `shift` later. An op after the boundary waits for
// its device, lines and slots. By induction over the positions two conditions are enough: those that determine its
// start in the base are later by exactly `shift`, and all others are not later than the shifted start.
bool OrderedRun::shifted_for_good(std::uint32_t boundary, Ticks shift) {
  if (shift == failed_shift_ && boundary * spacing_ < retry_at_) return false;
  const Checkpoint base = checkpoint(boundary);
  bool decided = true;
  for (std::size_t d = 0; d < devices_; ++d) {
    const bool along = free_[d] - base.free[d] == shift;
    const bool idle = base.free[d] < base.next_start[d] && free_[d] - shift <= base.next_start[d];
    decided &= along | idle;
  }
  if (!decided) return false;
  // The next transfer on a line is requested at the end of its device's next op, or later.
  for (std::size_t line = 0; line < lines_count_; ++line) {
    const Ticks next = base.next_end[line_source_[line]];
    const bool along = lines_[line] - base.lines[line] == shift;
    const bool idle = base.lines[line] <= next && lines_[line] - shift <= next;
    decided &= along | idle | (line_contended_[line] == 0);
  }
  if (!decided) return false;
  // With the same shift, slots that were checked before can only affect ops before retry_at_.
  const std::uint32_t from = shift == failed_shift_ ? looked_until_ : 0;
  retry_at_ = std::max(deciding_slots_before(shift), deciding_slots(boundary, ops_, shift, from));
  failed_shift_ = shift;
  looked_until_ = boundary * spacing_;
  return retry_at_ <= boundary * spacing_;
}

// Whether everything from the boundary to `until` runs as in the base, so that devices and lines are then free at the
// same times too.
bool OrderedRun::as_in_base(std::uint32_t boundary, std::uint32_t until) {
  const Checkpoint base = checkpoint(boundary);
  bool same = true;
  for (std::size_t d = 0; d < devices_; ++d) same &= free_[d] == base.free[d];
  if (!same) return false;
  for (std::size_t line = 0; line < lines_count_; ++line) {
    const Ticks free = base.free[line_source_[line]];
    const bool idle = base.lines[line] <= free && lines_[line] <= free;
    const bool equal = lines_[line] == base.lines[line];
    same &= equal | idle | (line_contended_[line] == 0);
  }
  return same && deciding_slots(boundary, until, 0, 0) == 0;
}

// The position after the last op between the boundary and `until` that does not start `shift` later than in the base
// because of a slot sent since position `from`; 0 if there is none.
std::uint32_t OrderedRun::deciding_slots(std::uint32_t boundary, std::uint32_t until, Ticks shift,
                                         std::uint32_t from) const {
  from = std::max(from, first_crossing_[boundary]);
  const Ticks begin = boundary * spacing_;
  const auto last_of = [&](std::uint32_t first, std::uint32_t end) {
    Lanes last{};
    for (std::size_t s = first; s < end; s += lanes) {
      const Slot* const slot = &slots_[s];
      const Lanes consumer = {slot[0].consumer, slot[1].consumer, slot[2].consumer, slot[3].consumer};
      Lanes slack, after_move, arrival;
      load_lanes(slack, &slack_[s]);
      load_lanes(after_move, &arrival_after_move_[s]);
      load_lanes(arrival, &arrival_[s]);
      const Lanes later = after_move - arrival - shift;
      // A comparison sets all bits of a lane, or none.
      const Lanes slot_id = Lanes{0, 1, 2, 3} + static_cast<Ticks>(s);
      const Lanes decides =
          (slot_id < end) & (later != 0) & ((slack <= 0) | (later > slack)) & (consumer >= begin) & (consumer < until);
      const Lanes bound = (consumer + 1) & decides;
      last = last > bound ? last : bound;
    }
    return static_cast<std::uint32_t>(std::max(std::max(last[0], last[1]), std::max(last[2], last[3])));
  };
  std::uint32_t last = 0;
  for (const Stretch& stretch : walked_)
    if (stretch.end > from)
      last = std::max(last, last_of(steps_[std::max(stretch.begin, from)].out, steps_[stretch.end].out));
  return last;
}

// An upper limit of the same, for slots sent before the stretch that is being walked.
std::uint32_t OrderedRun::deciding_slots_before(Ticks shift) const {
  if (shift == 0) return 0;
  // Slots sent before the stretch do not shift. If the run is later than the base (shift > 0), they no longer determine
  // starts that they determine in the base; if it is earlier, those with less slack than -shift arrive too late.
  std::size_t i = 0;
  while (thresholds_[i] < -shift) ++i;
  const std::uint32_t last = reach_[walked_.back().begin / spacing_ * classes + i];
  return last == 0 ? 0 : last + 1;
}

}  // namespace emplace::simulate
