// Energy: the work that ops must do within a window of time, also ops that need not run wholly inside it.
#include <algorithm>
#include <utility>

#include "search/bounds/context.hpp"
#include "search/common/evenly.hpp"

namespace emplace::search {

namespace {

// Limit of the triples (window, op, device) of one grid of windows; above it, only evenly spread windows are tried.
constexpr std::size_t most_triples = 100'000'000;
constexpr double energy_share = 0.1;  // of the time that is left
constexpr int most_grids = 8;         // each for the bound that the one before has found

// Windows begin at a and end b before the end of the step; C is the makespan. An op that cannot start before its head h
// and is followed by a time of q at least runs within [h, C - q], so on a device where it takes p, the part of it in
// the window is at least
//   min(p, h + p - a, q + p - b, C - a - b), or 0:
// pushed to the left as far as possible, pushed to the right, or covering the window. Let W be the sum over ops of the
// least part x weight over devices. The devices' weights sum to K, so a schedule needs W <= K x (C - a - b)
// (Baptiste, Le Pape, Nuijten 1999; weights as in load_weights.hpp).
class Windows {
 public:
  Windows(const Problem& p, const EarliestTimes& times, const std::vector<std::int64_t>& weights) {
    const std::size_t devices = p.device_count();
    for (const std::int64_t weight : weights) total_ += weight;
    for (std::size_t op = 0; op < p.op_count(); ++op) {
      const std::size_t first = runs_.size();
      for (std::size_t d = 0; d < devices; ++d) {
        const std::size_t at = op * devices + d;
        if (times.end[at] == never || times.tail[at] == never) continue;
        const Run run{times.end[at] - p.op_time[at], times.tail[at], p.op_time[at], weights[d]};
        const auto dominated = [&](const Run& other) {
          return other.head <= run.head && other.tail <= run.tail && other.time == run.time &&
                 other.weight <= run.weight;
        };
        if (!std::any_of(runs_.begin() + static_cast<std::ptrdiff_t>(first), runs_.end(), dominated))
          runs_.push_back(run);
      }
      if (runs_.size() > first) first_.push_back(runs_.size());
    }
  }

  // The least makespan from `best`, a known bound, on that no window refutes.
  Ticks bound(Ticks best, const Deadline& deadline) const {
    if (total_ == 0 || first_.size() < 2) return best;
    std::size_t side = 1, windows = 0;
    while ((side + 1) * (side + 1) * runs_.size() <= most_triples) ++side;
    Ticks before = -1;
    for (int grid = 0; grid < most_grids && before < best; ++grid) {
      before = best;
      // The part of an op in a window changes its slope where the window begins or ends with the op pushed to a side.
      std::vector<Ticks> begins, ends;
      for (const Run& run : runs_) {
        begins.insert(begins.end(), {run.head, run.head + run.time, best - run.tail - run.time});
        ends.insert(ends.end(), {run.tail, run.tail + run.time, best - run.head - run.time});
      }
      const std::vector<Ticks> some_ends = spread(std::move(ends), side);
      for (const Ticks a : spread(std::move(begins), side))
        for (const Ticks b : some_ends) {
          if (a + b >= best) break;
          if ((windows++ & 63) == 0 && deadline.passed()) return best;
          best = refuted(a, b, best);
        }
    }
    return best;
  }

 private:
  struct Run {  // of an op on a device
    Ticks head, tail, time;
    std::int64_t weight;
  };

  // At most about `most` of the different times above or equal to 0, in order.
  [[nodiscard]] static std::vector<Ticks> spread(std::vector<Ticks> times, std::size_t most) {
    std::erase_if(times, [](Ticks time) { return time < 0; });
    return evenly(std::move(times), most);
  }

  [[nodiscard]] Wide work(Ticks a, Ticks b, Ticks length) const {
    Wide sum = 0;
    for (std::size_t op = 0; op + 1 < first_.size(); ++op) {
      Wide least = -1;
      for (std::size_t r = first_[op]; r < first_[op + 1] && least != 0; ++r) {
        const Run& run = runs_[r];
        const Ticks left = run.head + run.time - a, right = run.tail + run.time - b;
        const Wide part = Wide{std::max<Ticks>(0, std::min({run.time, left, right, length}))} * run.weight;
        if (least < 0 || part < least) least = part;
      }
      sum += least;
    }
    return sum;
  }

  // The least makespan from `best` on that this window does not refute. While a window of some length needs more than
  // that length allows, all lengths up to that need are too short, because a longer window needs at least as much.
  [[nodiscard]] Ticks refuted(Ticks a, Ticks b, Ticks best) const {
    for (;;) {
      const auto need = static_cast<Ticks>((work(a, b, best - a - b) + total_ - 1) / total_);
      if (need <= best - a - b) return best;
      best = a + b + need;
    }
  }

  std::vector<Run> runs_;
  std::vector<std::size_t> first_{0};  // rows of runs_, one for each op
  Wide total_ = 0;
};

Ticks energy(BoundContext& context) {
  const Problem& p = context.problem;
  if (!context.weights) context.weights = quick_load_weights(unit_times(p, context.possible));
  const EarliestTimes& times = context.times();
  const Deadline deadline(context.deadline.left() * energy_share, [&] { return context.deadline.passed(); });
  const Ticks bound = Windows(p, times, context.weights->of_device).bound(context.best, deadline);
  context.cut_short = context.cut_short || deadline.passed();
  return bound > context.best ? bound : 0;  // else it has proved nothing of its own
}

}  // namespace

BoundEntry energy_bound() {
  BoundEntry entry;
  entry.name = "energy";
  entry.summary =
      "The work that ops must do within a window of time, also the parts of ops that are only partly inside.";
  entry.reference = "Baptiste, Le Pape, Nuijten (1999)";
  entry.bound = energy;
  return entry;
}

}  // namespace emplace::search
