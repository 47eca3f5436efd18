#include "report/perfetto.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <set>
#include <vector>

#include "base/files.hpp"
#include "emplace/base/error.hpp"
#include "report/names.hpp"
#include "report/trace_events.hpp"
#include "report/viewer_times.hpp"
#include "simulate/timeline/memory_timeline.hpp"

namespace emplace::report {

namespace {

// The tracks of one channel. A channel with contention needs one track; without contention transfers overlap, and each
// takes the first free track.
class Lanes {
 public:
  std::uint32_t take(Ticks start, Ticks end) {
    while (!busy_.empty() && busy_.top().first <= start) {
      free_.insert(busy_.top().second);
      busy_.pop();
    }
    if (free_.empty()) free_.insert(count_++);
    const std::uint32_t lane = *free_.begin();
    free_.erase(free_.begin());
    busy_.push({end, lane});
    return lane;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }

 private:
  using Busy = std::pair<Ticks, std::uint32_t>;
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  std::set<std::uint32_t> free_;
  std::uint32_t count_ = 0;
};

// Keeps the `limit` longest of `items`, in their order.
template <class Item, class Length>
void keep_longest(std::vector<Item>& items, std::size_t limit, Length length) {
  if (items.size() <= limit) return;
  std::vector<std::size_t> by_length(items.size());
  std::iota(by_length.begin(), by_length.end(), std::size_t{0});
  std::ranges::stable_sort(by_length, std::greater<>(), [&](std::size_t i) { return length(items[i]); });
  by_length.resize(limit);
  std::ranges::sort(by_length);
  std::vector<Item> kept;
  kept.reserve(limit);
  for (const std::size_t i : by_length) kept.push_back(items[i]);
  items = std::move(kept);
}

class TraceWriter {
 public:
  TraceWriter(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
              const TraceLimits& limits, const std::function<void(std::string_view)>& write)
      : p_(problem),
        placement_(placement),
        t_(timeline),
        shown_(viewer_times(problem, placement, timeline)),
        limits_(limits),
        events_(write),
        lanes_(problem.channels.size()),
        first_lane_(problem.channels.size()),
        op_shown_(problem.op_count()),
        transfer_shown_(timeline.transfers.size()) {}

  TraceSummary run() {
    EMPLACE_CHECK(!t_.op_end.empty(), "a trace needs a timeline");
    collect_slices();
    name_tracks();
    write_slices();
    write_memory();
    write_arrows();
    events_.finish(fmt::format(R"("problem":{},"makespan_ps":{},"left_out":{},"left_out_below_1_ns":{})",
                               json_name(p_.name), std::ranges::max(t_.op_end), summary_.left_out(),
                               summary_.slices_too_short));
    return summary_;
  }

 private:
  struct Slice {
    Ticks start, end;  // exact
    std::uint32_t op;  // `none` for a transfer, for which these are set:
    std::uint32_t transfer, channel, lane;
  };
  static constexpr std::uint32_t none = OpId::none_value;

  [[nodiscard]] std::uint32_t devices() const { return static_cast<std::uint32_t>(p_.device_count()); }
  [[nodiscard]] std::uint32_t channels_pid() const { return devices() + 1; }
  [[nodiscard]] Track compute(std::uint32_t device) const { return {device + 1, channels_pid() + 1 + device}; }
  [[nodiscard]] Track lane(std::uint32_t channel, std::uint32_t lane) const {
    return {channels_pid(), channels_pid() + 1 + devices() + first_lane_[channel] + lane};
  }

  void collect_slices() {
    for (std::uint32_t op = 0; op < p_.op_count(); ++op) {
      if (shown_.ops[op].shown())
        slices_.push_back({t_.op_start[op], t_.op_end[op], op, none, none, 0});
      else
        ++summary_.slices_too_short;
    }
    first_lane_of_.resize(t_.transfers.size());
    std::vector<std::uint32_t> by_start(t_.transfers.size());
    std::iota(by_start.begin(), by_start.end(), 0U);
    std::ranges::stable_sort(by_start, {}, [&](std::uint32_t i) { return shown_.transfers[i].start; });
    for (const std::uint32_t i : by_start) {
      const simulate::Timeline::Transfer& transfer = t_.transfers[i];
      const auto route = p_.route(transfer.from, transfer.to);
      if (!shown_.transfers[i].shown()) {
        summary_.slices_too_short += route.size();
        continue;
      }
      for (const std::uint32_t channel : route) {
        const std::uint32_t taken = lanes_[channel].take(shown_.transfers[i].start, shown_.transfers[i].end);
        if (channel == route.front()) first_lane_of_[i] = taken;
        slices_.push_back({transfer.start, transfer.end, none, i, channel, taken});
      }
    }
    const std::size_t all = slices_.size();
    keep_longest(slices_, limits_.slices, [](const Slice& slice) { return slice.end - slice.start; });
    summary_.slices = slices_.size();
    summary_.slices_left = summary_.slices_too_short + all - slices_.size();
  }

  void name_tracks() {
    for (std::uint32_t d = 0; d < devices(); ++d) {
      events_.process_name(d + 1, p_.devices[d].name);
      events_.thread_name(compute(d), "compute");
    }
    if (p_.channels.empty()) return;
    events_.process_name(channels_pid(), "channels");
    std::uint32_t next = 0;
    for (std::uint32_t c = 0; c < p_.channels.size(); ++c) {
      first_lane_[c] = next;
      const std::uint32_t count = std::max(1U, lanes_[c].count());
      for (std::uint32_t l = 0; l < count; ++l)
        events_.thread_name(lane(c, l),
                            l == 0 ? p_.channels[c].name : fmt::format("{} ({})", p_.channels[c].name, l + 1));
      next += count;
    }
  }

  [[nodiscard]] static std::string exact(const Slice& slice) {
    return fmt::format(R"("start_ps":{},"duration_ps":{})", slice.start, slice.end - slice.start);
  }

  void write_slices() {
    for (const Slice& slice : slices_) {
      if (slice.op != none) {
        op_shown_[slice.op] = 1;
        const auto [start, end] = shown_.ops[slice.op];
        events_.slice(compute(placement_.device[slice.op]), p_.op_names[slice.op], "op", start, end,
                      fmt::format(R"("type":{},{})", json_name(p_.op_types[slice.op]), exact(slice)));
        continue;
      }
      const simulate::Timeline::Transfer& transfer = t_.transfers[slice.transfer];
      if (slice.channel == p_.route(transfer.from, transfer.to).front()) transfer_shown_[slice.transfer] = 1;
      const auto [start, end] = shown_.transfers[slice.transfer];
      events_.slice(
          lane(slice.channel, slice.lane), tensor_name(p_, transfer.tensor), "transfer", start, end,
          fmt::format(R"("from":{},"to":{},"bytes":{},"waited_ps":{},{})",
                      json_name(p_.devices[transfer.from.index()].name),
                      json_name(p_.devices[transfer.to.index()].name), p_.tensor_bytes[transfer.tensor.index()],
                      transfer.start - transfer.requested, exact(slice)));
    }
  }

  void write_memory() {
    const auto memory = simulate::memory_timeline(p_, simulate::holdings(p_, placement_, t_));
    std::size_t all = 0;
    for (const simulate::DeviceMemory& device : memory) all += device.levels.size();
    for (std::uint32_t d = 0; d < devices(); ++d) {
      const auto& levels = memory[d].levels;
      const double share = static_cast<double>(limits_.levels) / static_cast<double>(std::max(all, limits_.levels));
      const auto limit = static_cast<std::size_t>(share * static_cast<double>(levels.size()));
      const auto kept = simulate::thinned(levels, std::max<std::size_t>(limit, 2));
      for (const simulate::DeviceMemory::Level& level : kept)
        events_.counter(d + 1, "memory", "bytes", level.time, level.bytes);
      summary_.levels += kept.size();
      summary_.levels_left += levels.size() - kept.size();
    }
  }

  // The first op that reads the copy.
  [[nodiscard]] std::uint32_t reader(const simulate::Timeline::Transfer& transfer) const {
    std::uint32_t first = none;
    for (const std::uint32_t consumer : p_.consumers[transfer.tensor.index()])
      if (placement_.device[consumer] == transfer.to.index() &&
          (first == none || t_.op_start[consumer] < t_.op_start[first]))
        first = consumer;
    return first;
  }

  // All three points of an arrow are at the beginnings of their slices: viewers draw from the end of one slice to the
  // beginning of the next.
  void write_arrows() {
    using Arrow = TraceEvents::Arrow;
    std::vector<std::uint32_t> arrows;
    for (std::uint32_t i = 0; i < t_.transfers.size(); ++i) {
      const simulate::Timeline::Transfer& transfer = t_.transfers[i];
      if (transfer_shown_[i] && op_shown_[p_.producer[transfer.tensor.index()].index()] && op_shown_[reader(transfer)])
        arrows.push_back(i);
    }
    keep_longest(arrows, limits_.arrows, [&](std::uint32_t i) { return t_.transfers[i].end - t_.transfers[i].start; });
    for (const std::uint32_t i : arrows) {
      const simulate::Timeline::Transfer& transfer = t_.transfers[i];
      const std::uint32_t from = p_.producer[transfer.tensor.index()].value;
      const std::uint32_t to = reader(transfer);
      const std::uint32_t channel = p_.route(transfer.from, transfer.to).front();
      events_.arrow(Arrow::start, i + 1, compute(placement_.device[from]), shown_.ops[from].start);
      events_.arrow(Arrow::step, i + 1, lane(channel, first_lane_of_[i]), shown_.transfers[i].start);
      events_.arrow(Arrow::finish, i + 1, compute(placement_.device[to]), shown_.ops[to].start);
    }
    summary_.arrows = arrows.size();
    summary_.arrows_left = t_.transfers.size() - arrows.size();
  }

  const Problem& p_;
  const Placement& placement_;
  const simulate::Timeline& t_;
  const ViewerTimes shown_;
  const TraceLimits limits_;
  TraceEvents events_;
  TraceSummary summary_;
  std::vector<Slice> slices_;
  std::vector<Lanes> lanes_;                  // C
  std::vector<std::uint32_t> first_lane_;     // C: the sum of the numbers of lanes of all channels before this one
  std::vector<std::uint32_t> first_lane_of_;  // lane of each transfer on the first channel of its route
  std::vector<char> op_shown_, transfer_shown_;
};

}  // namespace

TraceSummary write_trace(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                         const std::function<void(std::string_view)>& write, const TraceLimits& limits) {
  return TraceWriter(problem, placement, timeline, limits, write).run();
}

TraceSummary write_trace_file(const Problem& problem, const Placement& placement, const simulate::Timeline& timeline,
                              const std::string& path, const TraceLimits& limits) {
  FileWriter file(path);
  const TraceSummary summary = write_trace(
      problem, placement, timeline, [&](std::string_view text) { file.write(text); }, limits);
  file.finish();
  return summary;
}

}  // namespace emplace::report
