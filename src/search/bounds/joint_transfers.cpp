// The part of JointRegion that counts how transfers wait for each other.
#include <algorithm>
#include <tuple>

#include "search/bounds/joint_region.hpp"

namespace emplace::search {

namespace {

constexpr std::size_t window_count = 8;  // of time up to `start`, in which d and its channel are looked at

}  // namespace

// Whether the transfers that the decided sides need cannot all be made before v starts at `start`. A transfer begins
// when its producer ends or later, and the rest from its consumer to v follows. Transfers that are made one after the
// other:
// - between d and devices that share a channel on their way to d. An op that is elsewhere is surely on such a device if
//   it would be too late on any other.
// - between d and the device of one op that is elsewhere: they take one route.
// A tensor that several ops elsewhere need is sent at least once, for whichever of them has the longest rest.
bool JointRegion::crowded(Ticks start) {
  crossings_.clear();
  const auto count = static_cast<std::uint32_t>(size());
  for (std::uint32_t u = 0; u < count; ++u) {
    if (side_[u] == open) continue;
    for (std::size_t a = first_arc_[u]; a < first_arc_[u + 1]; ++a) {
      const Arc& arc = arcs_[a];
      const bool at_v = arc.to == target;
      if (side_[u] == elsewhere && (at_v || side_[arc.to] == on_d)) {
        const Ticks rest = at_v ? 0 : later(ops_[arc.to].time_on, times_[arc.to].on);
        const std::uint32_t line = surely(ops_[u].aside_in, u, start) ? 0 : in_turns_ ? 2 + u : alone;
        crossings_.push_back({line, arc.tensor, {times_[u].end_off, arc.in, rest}});
      } else if (side_[u] == on_d && !at_v && side_[arc.to] == elsewhere) {
        const Ticks rest = later(ops_[arc.to].time_off, times_[arc.to].off);
        const std::uint32_t line = surely(ops_[arc.to].aside_out, arc.to, start) ? 1
                                   : out_turns_                                  ? 2 + count + arc.to
                                                                                 : alone;
        crossings_.push_back({line, arc.tensor, {times_[u].end_on, arc.out, rest}});
      }
    }
  }
  std::erase_if(crossings_, [](const Crossing& c) {
    return c.line == alone || c.job.release == never || c.job.time == never || c.job.tail == never;
  });
  const auto late = [](const Crossing& c) { return c.job.release + c.job.tail; };
  std::sort(crossings_.begin(), crossings_.end(), [&](const Crossing& a, const Crossing& b) {
    return std::tuple(a.line, a.tensor, -late(a)) < std::tuple(b.line, b.tensor, -late(b));
  });
  for (std::size_t i = 0; i < crossings_.size();) {
    jobs_.clear();
    const std::uint32_t line = crossings_[i].line;
    for (std::size_t first = i; i < crossings_.size() && crossings_[i].line == line; ++i)
      if (i == first || crossings_[i].tensor != crossings_[i - 1].tensor) jobs_.push_back(crossings_[i].job);
    if (jobs_.size() > 1 && one_machine_bound(jobs_) > start) return true;
  }
  return false;
}

// Whether op u, if it is elsewhere, must be on a device that shares d's channel.
bool JointRegion::surely(const Aside& aside, std::size_t u, Ticks start) const {
  return later(std::max(aside.end, later(times_[u].start_off, aside.time)), times_[u].off) > start;
}

// Whether d and its channel (into d, or out of it) together have too little time. An op without a side takes its time
// on d, or the channel's time for what it then needs from ops on d or sends to them; a tensor that several such ops
// need is divided among them. So for every weight w from 0 to 1
//   w x (ops on d) + (1 - w) x (transfers) + sum over ops without a side of min(w x time, (1 - w) x transfers)
//     <= w x (time of d) + (1 - w) x (time of the channel),
// where either time is what is left of `start` before the first can begin and after the last has ended.
bool JointRegion::overloaded(Ticks start, bool in) {
  const auto count = static_cast<std::uint32_t>(size());
  needs_.clear();  // of ops that are elsewhere or have no side, from or to ops on d
  const auto need = [&](const Arc& arc, std::uint32_t u, bool shares_channel, const Job& job) {
    if (shares_channel && job.release != never && job.time != never && job.tail != never)
      needs_.push_back({arc.tensor, u, job});
  };
  for (std::uint32_t u = 0; u < count; ++u)
    for (std::size_t a = first_arc_[u]; a < first_arc_[u + 1]; ++a) {
      const Arc& arc = arcs_[a];
      const bool at_v = arc.to == target;
      if (in) {
        if (side_[u] == on_d || (!at_v && side_[arc.to] != on_d)) continue;
        const Ticks rest = at_v ? 0 : later(ops_[arc.to].time_on, times_[arc.to].on);
        need(arc, u, surely(ops_[u].aside_in, u, start), {times_[u].end_off, arc.in, rest});
      } else {
        if (side_[u] != on_d || at_v || side_[arc.to] == on_d) continue;
        const Ticks rest = later(ops_[arc.to].time_off, times_[arc.to].off);
        need(arc, arc.to, surely(ops_[arc.to].aside_out, arc.to, start), {times_[u].end_on, arc.out, rest});
      }
    }
  if (needs_.empty()) return false;
  // Ops that are elsewhere first: if one of them needs the tensor, the others need not pay for it.
  std::sort(needs_.begin(), needs_.end(), [&](const Need& a, const Need& b) {
    return std::tuple(a.tensor, side_[a.u] == open, a.u) < std::tuple(b.tensor, side_[b.u] == open, b.u);
  });
  choices_.assign(count, {});
  for (std::size_t i = 0; i < needs_.size();) {
    const std::size_t begin = i;
    Job send = needs_[i].job;
    std::size_t users = 0;
    for (; i < needs_.size() && needs_[i].tensor == needs_[begin].tensor; ++i) {
      users += i == begin || needs_[i].u != needs_[i - 1].u ? 1 : 0;
      send.time = std::min(send.time, needs_[i].job.time);
      send.release = std::min(send.release, needs_[i].job.release);
      send.tail = std::min(send.tail, needs_[i].job.tail);
    }
    const auto give = [&](std::uint32_t u, Ticks time) {
      Choice& choice = choices_[u];
      choice.off = {std::min(choice.off.release, send.release), choice.off.time + time,
                    std::min(choice.off.tail, send.tail)};
    };
    if (side_[needs_[begin].u] == elsewhere)
      give(needs_[begin].u, send.time);
    else
      for (std::size_t k = begin; k < i; ++k)
        if (k == begin || needs_[k].u != needs_[k - 1].u) give(needs_[k].u, send.time / static_cast<Ticks>(users));
  }
  std::size_t kept = 0, free = 0;
  releases_.clear();
  for (std::uint32_t u = 0; u < count; ++u) {
    Choice choice = choices_[u];
    choice.may_on = side_[u] != elsewhere && times_[u].end_on != never && times_[u].on != never;
    choice.may_off = side_[u] != on_d;
    if (choice.may_off && choice.off.time == 0) continue;
    if (choice.may_on) choice.on = {times_[u].end_on - ops_[u].time_on, ops_[u].time_on, times_[u].on};
    free += choice.may_on && choice.may_off ? 1 : 0;
    releases_.push_back(choice.may_on ? std::min(choice.on.release, choice.off.release) : choice.off.release);
    choices_[kept++] = choice;
  }
  if (free == 0) return false;
  choices_.resize(kept);
  std::sort(releases_.begin(), releases_.end());
  for (std::size_t part = 0; part < window_count; ++part)
    if (lacks_time(start, releases_[part * kept / window_count])) return true;
  return false;
}

// The same for what cannot begin before `begin`.
bool JointRegion::lacks_time(Ticks start, Ticks begin) {
  Ticks first_op = never, last_op = never, first_send = never, last_send = never;
  Wide busy = 0, sent = 0;
  open_.clear();
  for (const Choice& choice : choices_) {
    if ((choice.may_on && choice.on.release < begin) || (choice.may_off && choice.off.release < begin)) continue;
    if (choice.may_on) {
      first_op = std::min(first_op, choice.on.release);
      last_op = std::min(last_op, choice.on.tail);
    }
    if (choice.may_off) {
      first_send = std::min(first_send, choice.off.release);
      last_send = std::min(last_send, choice.off.tail);
    }
    if (!choice.may_off)
      busy += choice.on.time;
    else if (!choice.may_on)
      sent += choice.off.time;
    else
      open_.emplace_back(choice.on.time, choice.off.time);
  }
  if (open_.empty()) return false;
  const Wide d_left = Wide{start} - first_op - last_op - busy,
             channel_left = Wide{start} - first_send - last_send - sent;
  constexpr Wide parts = 1024;
  const auto lacking = [&](Wide w) {
    Wide sum = -w * d_left - (parts - w) * channel_left;
    for (const auto& [on, off] : open_) sum += std::min(w * on, (parts - w) * off);
    return sum;
  };
  Wide low = 0, high = parts;  // it is concave in w
  while (high - low > 2) {
    const Wide third = (high - low) / 3, a = low + third, b = high - third;
    if (lacking(a) < lacking(b))
      low = a;
    else
      high = b;
  }
  for (Wide w = low; w <= high; ++w)
    if (lacking(w) > 0) return true;
  return false;
}

}  // namespace emplace::search
