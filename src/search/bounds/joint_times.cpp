#include "search/bounds/joint_times.hpp"

#include <algorithm>
#include <queue>
#include <set>

#include "search/bounds/joint_devices.hpp"
#include "search/bounds/joint_region.hpp"

namespace emplace::search {

namespace {

// One direction: heads, or tails on the reversed graph, where "before" means after.
class JointSweep {
 public:
  JointSweep(const Problem& p, const std::vector<std::uint8_t>& possible, bool forward, const Deadline& deadline,
             const JointEffort& effort)
      : p_(p),
        possible_(possible),
        devices_(p.device_count()),
        forward_(forward),
        deadline_(deadline),
        effort_(effort),
        in_turns_(turns_of(p, forward)),
        out_turns_(turns_of(p, !forward)),
        alike_(alike_devices(p, possible, in_turns_, out_turns_)),
        plain_(p, forward),
        position_(p.op_count()),
        seen_(p.op_count(), 0),
        queued_(p.op_count(), 0),
        local_(p.op_count()) {
    for (std::size_t i = 0; i < p.op_count(); ++i) position_[p.topological[i]] = forward ? i : p.op_count() - 1 - i;
    for (std::size_t d = 0; d < devices_; ++d) {
      std::set<std::int32_t> in, out;
      for (std::size_t e = 0; e < devices_; ++e) {
        in.insert(p.route_class[forward ? e * devices_ + d : d * devices_ + e]);
        out.insert(p.route_class[forward ? d * devices_ + e : e * devices_ + d]);
      }
      in.erase(-1);
      out.erase(-1);
      speed_off_.push_back(speed_elsewhere(p, possible, d));
      in_.emplace_back(in.begin(), in.end());
      out_.emplace_back(out.begin(), out.end());
    }
  }

  // Ends of all ops on all devices (from the other end of the step, if backwards), at least `given`, which are the
  // ends without this method.
  std::vector<Ticks> ends(const std::vector<Ticks>& given) {
    end_ = given;
    std::vector<Ticks> there(devices_);
    for (std::size_t i = 0; i < p_.op_count(); ++i) {
      const std::uint32_t op = p_.topological[forward_ ? i : p_.op_count() - 1 - i];
      over_ = over_ || deadline_.passed();
      std::fill(there.begin(), there.end(), 0);
      each_before(op, [&](std::uint32_t before, std::uint32_t tensor) {
        plain_.wait(end_, before, tensor, together(op, before), there);
      });
      for (std::size_t d = 0; d < devices_; ++d) {
        const std::size_t at = op * devices_ + d;
        if (end_[at] == never) continue;
        const Ticks time = p_.op_time[at];
        if (alike_[d] != d && !over_) {
          end_[at] = end_[op * devices_ + alike_[d]];
          continue;
        }
        Ticks start = std::max(there[d], end_[at] - time);
        if (!over_) start = std::max(start, joint(op, d, start));
        end_[at] = later(start, time);
      }
    }
    return std::move(end_);
  }

 private:
  template <class Each>
  void each_before(std::uint32_t op, Each&& each) const {
    if (forward_) {
      for (const std::uint32_t tensor : p_.inputs[op]) each(p_.producer[tensor].value, tensor);
    } else {
      for (const std::uint32_t tensor : p_.outputs[op])
        for (const std::uint32_t consumer : p_.consumers[tensor]) each(consumer, tensor);
    }
  }
  template <class Each>
  void each_after(std::uint32_t op, Each&& each) const {
    if (!forward_) {
      for (const std::uint32_t tensor : p_.inputs[op]) each(p_.producer[tensor].value, tensor);
    } else {
      for (const std::uint32_t tensor : p_.outputs[op])
        for (const std::uint32_t consumer : p_.consumers[tensor]) each(consumer, tensor);
    }
  }
  [[nodiscard]] bool together(std::uint32_t a, std::uint32_t b) const {
    return !p_.group[a].is_none() && p_.group[a] == p_.group[b];
  }
  [[nodiscard]] Ticks quickest(std::uint32_t tensor, const std::vector<std::int32_t>& classes) const {
    Ticks least = never;
    for (const std::int32_t cls : classes)
      least = std::min(least, p_.transfer_time[tensor * p_.route_classes.size() + static_cast<std::size_t>(cls)]);
    return least;
  }
  // The op on d and on the other devices that it may be on.
  [[nodiscard]] JointRegion::Op sides(std::uint32_t op, std::size_t d) const {
    JointRegion::Op sides{.end_on = never,
                          .end_off = never,
                          .time_on = never,
                          .time_off = never,
                          .start_off = never,
                          .aside_in = {},
                          .aside_out = {}};
    for (std::size_t e = 0; e < devices_; ++e) {
      const std::size_t at = op * devices_ + e;
      if (possible_[at] == 0) continue;
      const Ticks time = p_.op_time[at];
      if (e != d) sides.time_off = std::min(sides.time_off, time);
      if (end_[at] == never) continue;
      if (e == d) {
        sides.end_on = end_[at];
        sides.time_on = time;
      } else {
        sides.end_off = std::min(sides.end_off, end_[at]);
        sides.start_off = std::min(sides.start_off, end_[at] - time);
        const auto aside = [&](const Turns& turns, JointRegion::Aside& there) {
          if (turns.beside[e] == 0) return;
          there.end = std::min(there.end, end_[at]);
          there.time = std::min(there.time, time);
        };
        aside(in_turns_[d], sides.aside_in);
        aside(out_turns_[d], sides.aside_out);
      }
    }
    return sides;
  }

  // The least start of v on d, which is at least `start`.
  Ticks joint(std::uint32_t v, std::size_t d, Ticks start) {
    gather(v, d, start);
    return region_.earliest(start, effort_.branches);
  }

  // The ops that v cannot wait for if they are not on d, and the arcs between them and v.
  void gather(std::uint32_t v, std::size_t d, Ticks start) {
    ++stamp_;
    region_.clear(speed_off_[d], in_turns_[d].of_pair, out_turns_[d].of_pair);
    std::priority_queue<std::pair<std::size_t, std::uint32_t>> open;
    const auto reach = [&](std::uint32_t op) {
      each_before(op, [&](std::uint32_t before, std::uint32_t) {
        if (queued_[before] == stamp_) return;
        queued_[before] = stamp_;
        open.emplace(position_[before], before);
      });
    };
    seen_[v] = stamp_;
    local_[v] = JointRegion::target;
    reach(v);
    Ticks margin = 0;
    each_before(v, [&](std::uint32_t u, std::uint32_t tensor) {
      if (!together(u, v)) margin = std::max(margin, std::min(quickest(tensor, in_[d]), start));
    });
    margin = static_cast<Ticks>(static_cast<double>(margin) * effort_.margin);
    std::size_t looked = 0;
    for (; !open.empty() && looked < effort_.near_ops; ++looked) {
      const std::uint32_t u = open.top().second;
      open.pop();
      region_.begin_op(sides(u, d));
      each_after(u, [&](std::uint32_t w, std::uint32_t tensor) {
        if (seen_[w] != stamp_) return;
        const bool same = together(u, w);
        region_.add_arc({.to = local_[w],
                         .in = same ? never : quickest(tensor, in_[d]),
                         .out = same ? never : quickest(tensor, out_[d]),
                         .tensor = tensor});
      });
      if (!region_.keep_op(start - margin)) continue;
      seen_[u] = stamp_;
      local_[u] = static_cast<std::uint32_t>(region_.size() - 1);
      reach(u);
    }
  }

  const Problem& p_;
  const std::vector<std::uint8_t>& possible_;
  const std::size_t devices_;
  const bool forward_;
  const Deadline& deadline_;
  const JointEffort& effort_;
  const std::vector<Turns> in_turns_, out_turns_;  // D
  const std::vector<std::size_t> alike_;
  const EarliestSweep plain_;
  std::vector<std::size_t> position_;
  std::vector<std::int64_t> speed_off_;              // D, in units of JointRegion::speed_unit
  std::vector<std::vector<std::int32_t>> in_, out_;  // D rows: classes of the routes into (out of) the device
  std::vector<std::uint64_t> seen_, queued_;
  std::uint64_t stamp_ = 0;
  std::vector<std::uint32_t> local_;  // N: position in the region, if seen
  std::vector<Ticks> end_;
  JointRegion region_;
  bool over_ = false;
};

}  // namespace

EarliestTimes joint_times(const Problem& p, const std::vector<std::uint8_t>& possible, const EarliestTimes& given,
                          const Deadline& deadline, const JointEffort& effort) {
  EarliestTimes times;
  const Deadline half(deadline.left() / 2, [&] { return deadline.passed(); });
  times.end = JointSweep(p, possible, true, half, effort).ends(given.end);
  std::vector<Ticks> from_start(given.tail);
  for (std::size_t at = 0; at < from_start.size(); ++at)
    if (from_start[at] != never) from_start[at] += p.op_time[at];
  times.tail = JointSweep(p, possible, false, deadline, effort).ends(from_start);
  for (std::size_t at = 0; at < from_start.size(); ++at)
    if (times.tail[at] != never) times.tail[at] -= p.op_time[at];
  return times;
}

}  // namespace emplace::search
