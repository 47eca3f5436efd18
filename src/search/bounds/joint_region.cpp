#include "search/bounds/joint_region.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

namespace emplace::search {

namespace {

constexpr int first_steps = 32;  // the first step of the search for a start, in parts of the longest wait for an op
constexpr int halvings = 6;      // of the last step
constexpr int rounds = 8;        // of decisions that follow from each other

}  // namespace

Ticks one_machine_bound(std::vector<Job>& jobs) {
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) { return a.release < b.release; });
  std::priority_queue<std::pair<Ticks, Ticks>> ready;  // tail, time left
  Ticks now = 0, longest = 0;
  for (std::size_t next = 0; next < jobs.size() || !ready.empty();) {
    if (ready.empty()) now = std::max(now, jobs[next].release);
    for (; next < jobs.size() && jobs[next].release <= now; ++next) ready.emplace(jobs[next].tail, jobs[next].time);
    const auto [tail, left] = ready.top();
    ready.pop();
    const Ticks until = next < jobs.size() ? std::min(now + left, jobs[next].release) : now + left;
    if (const Ticks rest = left - (until - now); rest > 0)
      ready.emplace(tail, rest);
    else
      longest = std::max(longest, until + tail);
    now = until;
  }
  return longest;
}

void JointRegion::clear(std::int64_t speed_off, bool in_turns, bool out_turns) {
  speed_off_ = speed_off;
  in_turns_ = in_turns;
  out_turns_ = out_turns;
  ops_.clear();
  arcs_.clear();
  first_arc_.assign(1, 0);
  times_.clear();
  side_.clear();
}

void JointRegion::begin_op(const Op& op) {
  ops_.push_back(op);
  times_.push_back({op.end_on, op.end_off, 0, 0, op.start_off});
  side_.push_back(open);
}

void JointRegion::add_arc(const Arc& arc) { arcs_.push_back(arc); }

bool JointRegion::keep_op(Ticks start) {
  const std::size_t u = ops_.size() - 1;
  first_arc_.push_back(arcs_.size());
  rest(u);
  if (later(times_[u].end_off, times_[u].off) > start) return true;
  ops_.pop_back();
  times_.pop_back();
  side_.pop_back();
  first_arc_.pop_back();
  arcs_.resize(first_arc_.back());
  return false;
}

// The least times from the end of u to v, from those of the ops after it.
void JointRegion::rest(std::size_t u) {
  Ticks on = 0, off = 0;
  for (std::size_t a = first_arc_[u]; a < first_arc_[u + 1]; ++a) {
    const Arc& arc = arcs_[a];
    if (arc.to == target) {
      off = std::max(off, arc.in);
      continue;
    }
    const Ticks there = side_[arc.to] == elsewhere ? never : later(ops_[arc.to].time_on, times_[arc.to].on);
    const Ticks away = side_[arc.to] == on_d ? never : later(ops_[arc.to].time_off, times_[arc.to].off);
    off = std::max(off, std::min(away, later(arc.in, there)));
    on = std::max(on, std::min(there, later(arc.out, away)));
  }
  times_[u].on = on;
  times_[u].off = off;
}

Ticks JointRegion::earliest(Ticks start, int branches) {
  branches_ = branches;
  Ticks least = all_near(start);
  if (least == never) return never;
  Ticks longest = least + 1;
  for (std::size_t u = 0; u < size(); ++u) {
    const Ticks unless = later(times_[u].end_off, times_[u].off);
    if (unless != never) longest = std::max(longest, unless);
  }
  if (size() == 0 || !refuted(least)) return least;
  // Steps that double until a start is not refuted, and then halve.
  Ticks below = least, step = std::max<Ticks>((longest - least) / first_steps, 1);
  for (; below + step < total_limit && refuted(below + step); step *= 2) below += step;
  for (int halving = 0; halving < halvings && step > 1; ++halving) {
    step = (step + 1) / 2;
    if (refuted(below + step)) below += step;
  }
  return below + 1;
}

// All ops that v cannot wait for are on d: the closed form over all starts.
Ticks JointRegion::all_near(Ticks start) {
  std::vector<std::size_t> near(size());
  std::iota(near.begin(), near.end(), std::size_t{0});
  const auto unless = [&](std::size_t u) { return later(times_[u].end_off, times_[u].off); };
  std::sort(near.begin(), near.end(), [&](auto a, auto b) { return unless(a) > unless(b); });
  const auto time_of = [&](std::size_t count) {
    jobs_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t u = near[i];
      if (times_[u].end_on == never || times_[u].on == never) return never;
      jobs_.push_back({times_[u].end_on - ops_[u].time_on, ops_[u].time_on, times_[u].on});
    }
    return one_machine_bound(jobs_);
  };
  const auto others = [&](std::size_t count) { return count == near.size() ? start : unless(near[count]); };
  // The first count of ops on d that take at least as long as the wait for the others: more ops take longer.
  std::size_t low = 0, high = near.size();
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (time_of(middle) >= others(middle))
      high = middle;
    else
      low = middle + 1;
  }
  Ticks best = std::max(time_of(low), others(low));
  if (low > 0) best = std::min(best, std::max(time_of(low - 1), others(low - 1)));
  return std::max(best, start);
}

// Recomputes all times for the sides that are decided.
void JointRegion::sweep() {
  for (std::size_t u = 0; u < size(); ++u) {
    times_[u].end_on = side_[u] == elsewhere ? never : ops_[u].end_on;
    times_[u].end_off = side_[u] == on_d ? never : ops_[u].end_off;
    times_[u].start_off = ops_[u].start_off;
    rest(u);
  }
  for (std::size_t u = size(); u-- > 0;) {
    const Times& from = times_[u];
    for (std::size_t a = first_arc_[u]; a < first_arc_[u + 1]; ++a) {
      const Arc& arc = arcs_[a];
      if (arc.to == target) continue;
      Times& to = times_[arc.to];
      if (to.end_on != never)
        to.end_on =
            std::max(to.end_on, later(std::min(from.end_on, later(from.end_off, arc.in)), ops_[arc.to].time_on));
      if (to.end_off == never) continue;
      const Ticks arrival = std::min(from.end_off, later(from.end_on, arc.out));
      to.start_off = std::max(to.start_off, arrival);
      to.end_off = std::max(to.end_off, later(arrival, ops_[arc.to].time_off));
    }
  }
}

// Decides the sides that a start of v at `start` leaves. False if some op has none.
bool JointRegion::decide(Ticks start) {
  for (int round = 0; round < rounds; ++round) {
    sweep();
    bool changed = false;
    for (std::size_t u = 0; u < size(); ++u) {
      const bool can_on = later(times_[u].end_on, times_[u].on) <= start;
      const bool can_off = later(times_[u].end_off, times_[u].off) <= start;
      if (!can_on && !can_off) return false;
      if (side_[u] == open && can_on != can_off) {
        side_[u] = can_on ? on_d : elsewhere;
        changed = true;
      }
    }
    if (!changed) break;
  }
  return true;
}

// Whether v cannot start at `start`: by the ops that are then on d, or because each side of some op leads to that.
bool JointRegion::refuted(Ticks start) {
  std::fill(side_.begin(), side_.end(), open);
  branched_ = 0;
  return search(start);
}

bool JointRegion::search(Ticks start) {
  if (!decide(start)) return true;
  jobs_.clear();
  for (std::size_t u = 0; u < size(); ++u)
    if (side_[u] == on_d) jobs_.push_back({times_[u].end_on - ops_[u].time_on, ops_[u].time_on, times_[u].on});
  if (one_machine_bound(jobs_) > start) return true;
  jobs_.clear();
  for (std::size_t u = 0; u < size(); ++u)
    if (side_[u] == elsewhere)
      jobs_.push_back(
          {times_[u].start_off, static_cast<Ticks>(Wide{ops_[u].time_off} * speed_unit / speed_off_), times_[u].off});
  if (one_machine_bound(jobs_) > start || crowded(start)) return true;
  if (overloaded(start, true) || overloaded(start, false)) return true;
  if (branched_ >= branches_) return false;
  // The op that most others here need: its side says most about theirs.
  const auto arcs = [&](std::size_t u) { return first_arc_[u + 1] - first_arc_[u]; };
  std::size_t branch = size();
  for (std::size_t u = 0; u < size(); ++u)
    if (side_[u] == open && (branch == size() || arcs(u) > arcs(branch))) branch = u;
  if (branch == size()) return false;
  const std::vector<Side> before = side_;
  for (const Side side : {elsewhere, on_d}) {
    ++branched_;
    side_ = before;
    side_[branch] = side;
    if (!search(start)) return false;
  }
  return true;
}

}  // namespace emplace::search
