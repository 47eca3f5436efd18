#include "search/exact/schedule_search.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <tuple>

namespace emplace::search {

namespace {

struct Frame {
  std::vector<Ticks> there;  // N x D: arrival of inputs from ops scheduled so far; `never`: cannot be on the device
  std::vector<Ticks> ready;  // D: end of the device's last op, or the start of the last scheduled op if later
  std::vector<Bytes> used;   // D: resident bytes
  std::vector<std::uint32_t> missing;  // N: producers that are not scheduled
  Ticks makespan = 0;                  // so far
  struct Child {
    Ticks start, bound;
    Ticks rest;  // least time from the op's start to the end of the step
    std::uint32_t op, device;
  };
  std::vector<Child> children;
};

class Search {
 public:
  Search(const StepModel& model, Ticks below, const SearchLimits& limits,
         const std::function<bool(const Placement&, Ticks)>& found)
      : m_(model), limits_(limits), found_(found), table_(limits.table_bytes), frames_(model.ops + 1) {
    result_.best = below;
    placement_.device.assign(m_.ops, 0);
    scheduled_.assign(m_.ops, 0);
    start_.assign(m_.ops * m_.devices, never);
    end_ = start_;
    Frame& root = frames_[0];
    for (std::size_t i = 0; i < m_.time.size(); ++i) root.there.push_back(m_.time[i] == never ? never : 0);
    root.ready.assign(m_.devices, 0);
    root.used.assign(m_.devices, 0);
    for (std::size_t op = 0; op < m_.ops; ++op)
      root.missing.push_back(static_cast<std::uint32_t>(m_.inputs[op].size()));
  }

  SearchResult run() {
    const Ticks open = explore(0, 0);
    result_.complete = !stopped_;
    result_.lower_bound = std::min(open, result_.best);
    return result_;
  }

 private:
  // Returns the least bound of the nodes below this one that were not explored; `never` if there are none.
  Ticks explore(std::size_t depth, Ticks bound) {
    Frame& frame = frames_[depth];
    ++result_.nodes;
    if (result_.nodes >= limits_.nodes || (limits_.stop && limits_.stop())) stopped_ = true;
    if (stopped_) return bound;
    if (depth == m_.ops) {
      if (frame.makespan < result_.best) {
        result_.best = frame.makespan;
        if (!found_(placement_, frame.makespan)) stopped_ = true;
      }
      return never;
    }
    find_representatives(frame);
    bound = std::max({bound, frame.makespan, path_bound(frame)});
    if (bound >= result_.best || overloaded() || table_.seen(key_of(frame, depth), bound)) return never;
    list_children(frame, bound);
    Ticks open = never;
    for (std::size_t i = 0; i < frame.children.size(); ++i) {
      const Frame::Child child = frame.children[i];
      if (child.bound >= result_.best) continue;
      if (stopped_) {
        open = std::min(open, child.bound);
        continue;
      }
      schedule(frame, frames_[depth + 1], child);
      open = std::min(open, explore(depth + 1, child.bound));
      scheduled_[child.op] = 0;
      placement_.order.pop_back();
    }
    return open;
  }

  // Of exchangeable devices in the same state only the first is tried.
  void find_representatives(const Frame& frame) {
    same_.clear();
    for (std::uint32_t d = 0; d < m_.devices; ++d) {
      std::uint32_t e = m_.kind[d];
      while (e < d && !(m_.kind[e] == m_.kind[d] && same_[e] == e && same_column(frame, d, e))) ++e;
      same_.push_back(e);
    }
  }

  bool same_column(const Frame& frame, std::size_t d, std::size_t e) const {
    if (frame.ready[d] != frame.ready[e] || frame.used[d] != frame.used[e]) return false;
    for (std::size_t op = 0; op < m_.ops; ++op)
      if (scheduled_[op] == 0 && frame.there[op * m_.devices + d] != frame.there[op * m_.devices + e] &&
          column_entry(frame, op, d) != column_entry(frame, op, e))
        return false;
    return true;
  }

  Ticks column_entry(const Frame& frame, std::size_t op, std::size_t d) const {
    return std::max(frame.there[op * m_.devices + d], frame.ready[d]);
  }

  // Fills in start and end of the remaining ops, and returns the longest path. Exchangeable devices in the same state
  // need only one entry, because a transfer between two of them is never better than staying.
  Ticks path_bound(const Frame& frame) {
    const std::size_t devices = m_.devices;
    Ticks longest = 0;
    for (const std::uint32_t op : m_.topological) {
      if (scheduled_[op] != 0) continue;
      Ticks through = never;
      for (std::size_t d = 0; d < devices; ++d) {
        if (same_[d] != d) continue;
        Ticks start = column_entry(frame, op, d);
        for (const StepModel::Arc& arc : m_.inputs[op]) {
          if (start == never) break;
          if (scheduled_[arc.op] != 0) continue;
          const Ticks* const from = end_.data() + arc.op * devices;
          Ticks there = from[d];
          if (m_.group[op] < 0 || m_.group[op] != m_.group[arc.op])
            for (std::size_t e = 0; e < devices; ++e)
              if (same_[e] == e && from[e] < there)
                there = std::min(there, later(from[e], m_.transfer_time(arc, e, d)));
          start = std::max(start, there);
        }
        start_[op * devices + d] = start;
        const Ticks end = later(start, m_.time[op * devices + d]);
        end_[op * devices + d] = end;
        through = std::min(through, later(end, m_.tail[op * devices + d]));
      }
      if (through == never) return never;
      longest = std::max(longest, through);
    }
    return longest;
  }

  // Whether the remaining ops do not fit on the devices before result_.best: sum of k_d x remaining time < remaining
  // work.
  [[nodiscard]] bool overloaded() const {
    if (result_.best == never) return false;
    Wide work = 0, room = 0;
    for (std::size_t op = 0; op < m_.ops; ++op)
      if (scheduled_[op] == 0) work += m_.work[op];
    for (std::size_t d = 0; d < m_.devices; ++d) {
      const std::size_t representative = same_[d];
      Ticks start = never, tail = never;
      for (std::size_t op = 0; op < m_.ops; ++op)
        if (scheduled_[op] == 0 && end_[op * m_.devices + representative] != never) {
          start = std::min(start, start_[op * m_.devices + representative]);
          tail = std::min(tail, m_.tail[op * m_.devices + representative]);
        }
      if (start != never && start + tail < result_.best) room += Wide{result_.best - 1 - start - tail} * m_.weight[d];
    }
    return room < work;
  }

  StateKey key_of(const Frame& frame, std::size_t depth) {
    columns_.clear();
    for (std::size_t d = 0; d < m_.devices; ++d) {
      words_.clear();
      words_.push_back(frame.ready[d]);
      words_.push_back(frame.used[d]);
      for (std::size_t op = 0; op < m_.ops; ++op)
        if (scheduled_[op] == 0) words_.push_back(column_entry(frame, op, d));
      const XXH128_hash_t hash = XXH3_128bits(words_.data(), words_.size() * sizeof(Ticks));
      columns_.push_back({m_.kind[d], hash.low64, hash.high64});
    }
    std::sort(columns_.begin(), columns_.end());
    words_.clear();
    words_.push_back(static_cast<Ticks>(depth));
    for (const auto& [kind, low, high] : columns_) {
      words_.push_back(static_cast<Ticks>(low));
      words_.push_back(static_cast<Ticks>(high));
    }
    const XXH128_hash_t of_columns = XXH3_128bits(words_.data(), words_.size() * sizeof(Ticks));
    const XXH128_hash_t of_set = XXH3_128bits(scheduled_.data(), scheduled_.size());
    const std::uint64_t all[] = {of_columns.low64, of_columns.high64, of_set.low64, of_set.high64};
    const XXH128_hash_t hash = XXH3_128bits(all, sizeof(all));
    return {hash.low64, hash.high64};
  }

  void list_children(Frame& frame, Ticks bound) const {
    frame.children.clear();
    for (std::uint32_t op = 0; op < m_.ops; ++op) {
      if (scheduled_[op] != 0 || frame.missing[op] != 0) continue;
      if (m_.after[op] >= 0 && scheduled_[static_cast<std::size_t>(m_.after[op])] == 0) continue;
      for (std::uint32_t d = 0; d < m_.devices; ++d) {
        const std::size_t at = op * m_.devices + d;
        if (same_[d] != d || end_[at] == never) continue;
        if (frame.used[d] + m_.resident[op] > m_.memory[d]) continue;
        const Ticks through = end_[at] + m_.tail[at];
        if (through >= result_.best) continue;
        frame.children.push_back({start_[at], std::max(bound, through), through - start_[at], op, d});
      }
    }
    std::sort(frame.children.begin(), frame.children.end(), [](const Frame::Child& a, const Frame::Child& b) {
      return std::tuple(a.start, -a.rest, a.op, a.device) < std::tuple(b.start, -b.rest, b.op, b.device);
    });
  }

  void schedule(const Frame& frame, Frame& next, const Frame::Child& child) {
    const std::size_t devices = m_.devices;
    next.there = frame.there;
    next.ready = frame.ready;
    next.used = frame.used;
    next.missing = frame.missing;
    const Ticks end = child.start + m_.time[child.op * devices + child.device];
    next.makespan = std::max(frame.makespan, end);
    for (Ticks& ready : next.ready) ready = std::max(ready, child.start);
    next.ready[child.device] = end;
    next.used[child.device] += m_.resident[child.op];
    for (const StepModel::Arc& arc : m_.consumers[child.op]) {
      --next.missing[arc.op];
      Ticks* const row = next.there.data() + arc.op * devices;
      for (std::size_t d = 0; d < devices; ++d)
        row[d] = std::max(row[d], later(end, m_.transfer_time(arc, child.device, d)));
    }
    if (const std::int32_t group = m_.group[child.op]; group >= 0)
      for (std::size_t op = 0; op < m_.ops; ++op)
        if (m_.group[op] == group)
          for (std::size_t d = 0; d < devices; ++d)
            if (d != child.device) next.there[op * devices + d] = never;
    scheduled_[child.op] = 1;
    placement_.device[child.op] = static_cast<std::uint8_t>(child.device);
    placement_.order.push_back(child.op);
  }

  const StepModel& m_;
  const SearchLimits& limits_;
  const std::function<bool(const Placement&, Ticks)>& found_;
  StateTable table_;
  std::vector<Frame> frames_;  // indexed by depth
  std::vector<std::uint8_t> scheduled_;
  Placement placement_;
  SearchResult result_;
  bool stopped_ = false;
  // Data of the current node, valid until its children are listed.
  std::vector<std::uint32_t> same_;  // D: the first exchangeable device in the same state
  std::vector<Ticks> start_, end_;   // N x D: earliest times of the remaining ops
  std::vector<Ticks> words_;
  std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> columns_;
};

}  // namespace

SearchResult search_schedules(const StepModel& model, Ticks below, const SearchLimits& limits,
                              const std::function<bool(const Placement&, Ticks)>& found) {
  return Search(model, below, limits, found).run();
}

}  // namespace emplace::search
