// Windows: all ops that cannot start before r and after whose end the step takes at least q longer run within a time of
// makespan - r - q. So r + q + the load bound of these ops is a bound on the makespan. (Fernandez and Bussell 1973, for
// unlike devices.)
#include <algorithm>
#include <numeric>

#include "search/bounds/context.hpp"

namespace emplace::search {

namespace {

// Limit of the pairs (r, op) that are tried; above it, only evenly spread values of r are tried.
constexpr std::size_t most_pairs = 20'000'000;

// If a set S of ops runs within a window of length L, then K x L >= sum over S of min over d of k_d x time, as in
// load_weights.hpp.
Ticks windows(BoundContext& context) {
  const Problem& p = context.problem;
  const std::size_t devices = p.device_count(), ops = p.op_count();
  const EarliestTimes& times = context.times();
  if (!context.weights) context.weights = quick_load_weights(unit_times(p, context.possible));
  const std::vector<std::int64_t>& weights = context.weights->of_device;
  Wide total = 0;
  for (const std::int64_t weight : weights) total += weight;
  if (total == 0) return 0;
  Ticks best = 0;
  const LeastTimes least = least_times(p, times);
  const std::vector<Ticks>&head = least.head, &tail = least.tail;
  std::vector<Wide> work(ops, 0);
  for (std::size_t op = 0; op < ops; ++op) {
    bool any = false;
    for (std::size_t d = 0; d < devices; ++d) {
      const std::size_t at = op * devices + d;
      if (times.end[at] == never || times.tail[at] == never) continue;
      const Wide weighted = Wide{p.op_time[at]} * weights[d];
      work[op] = any ? std::min(work[op], weighted) : weighted;
      any = true;
    }
  }
  std::vector<std::uint32_t> by_tail(ops);
  std::iota(by_tail.begin(), by_tail.end(), 0U);
  std::erase_if(by_tail, [&](std::uint32_t op) { return head[op] == never; });
  std::sort(by_tail.begin(), by_tail.end(), [&](auto a, auto b) { return tail[a] > tail[b]; });
  std::vector<Ticks> starts;
  for (const std::uint32_t op : by_tail) starts.push_back(head[op]);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  const std::size_t step = std::max<std::size_t>(1, starts.size() * by_tail.size() / most_pairs);
  for (std::size_t r = 0; r < starts.size(); r += step) {
    if ((r & 15) == 0 && r > 0 && context.deadline.passed()) break;
    Wide inside = 0;
    for (const std::uint32_t op : by_tail) {
      if (head[op] < starts[r]) continue;
      inside += work[op];
      best = std::max(best, starts[r] + tail[op] + static_cast<Ticks>((inside + total - 1) / total));
    }
  }
  return best;
}

}  // namespace

BoundEntry windows_bound() {
  BoundEntry entry;
  entry.name = "windows";
  entry.summary = "The work of ops that all have to run between an earliest start and a least remaining time.";
  entry.reference = "Fernandez, Bussell (1973)";
  entry.bound = windows;
  return entry;
}

}  // namespace emplace::search
