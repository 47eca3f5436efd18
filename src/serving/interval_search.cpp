#include "serving/interval_search.hpp"

#include <algorithm>
#include <cmath>

namespace emplace::serving {

namespace {

constexpr std::uint64_t layouts_between_looks = 64;
// Changes that come to nothing are not evaluated; in a tiny cluster that can be all of them.
constexpr std::uint64_t most_moves_per_evaluation = 16;
// Places that are tried for a node that is put back.
constexpr std::size_t most_places = 24;

}  // namespace

IntervalSearch::IntervalSearch(const Cluster& cluster, FlowEvaluator& flow, Rate enough, Stream& stream)
    : cluster_(cluster), flow_(flow), enough_(enough), stream_(stream), best_(cluster.size()) {}

void IntervalSearch::start(const Layout& layout) {
  now_ = layout;
  now_rate_ = evaluate(now_);
}

Rate IntervalSearch::evaluate(const Layout& layout) {
  ++evaluations_;
  const Rate rate = flow_.throughput(layout);
  if (rate > best_rate_) {
    best_rate_ = rate;
    best_ = layout;
  }
  return rate;
}

bool IntervalSearch::fits(std::size_t node, Interval held) const {
  return held.first < held.end && held.end <= cluster_.layers && held.size() <= cluster_.most(node);
}

// One end of one interval.
bool IntervalSearch::shift_end() {
  const std::size_t node = below(cluster_.size());
  Interval& held = next_[node];
  if (held.empty()) return false;
  const Layers step = 1 + below(2);
  Interval moved = held;
  switch (below(4)) {
    case 0: moved.first = moved.first >= step ? moved.first - step : 0; break;
    case 1: moved.first += step; break;
    case 2: moved.end = std::min(moved.end + step, cluster_.layers); break;
    default: moved.end = moved.end >= step ? moved.end - step : 0; break;
  }
  if (!fits(node, moved) || moved == held) return false;
  held = moved;
  return true;
}

// Where intervals meet: all that end or begin there.
bool IntervalSearch::shift_boundary() {
  const Interval held = next_[below(cluster_.size())];
  if (held.empty()) return false;
  const Layers at = below(2) == 0 ? held.first : held.end;
  if (at == 0 || at == cluster_.layers) return false;
  const Layers to = below(2) == 0 ? at - 1 : at + 1;
  for (std::size_t node = 0; node < next_.size(); ++node) {
    Interval moved = next_[node];
    if (moved.empty()) continue;
    if (moved.first == at) moved.first = to;
    if (moved.end == at) moved.end = to;
    if (moved == next_[node]) continue;
    // One that would be empty or too long stays out.
    next_[node] = fits(node, moved) ? moved : Interval{};
  }
  return true;
}

bool IntervalSearch::swap_nodes() {
  const std::size_t a = below(cluster_.size()), b = below(cluster_.size());
  if (next_[a] == next_[b]) return false;
  std::swap(next_[a], next_[b]);
  for (const std::size_t node : {a, b}) {
    Interval& held = next_[node];
    if (!held.empty() && held.size() > cluster_.most(node)) return false;
  }
  return true;
}

// A node joins another one, or does what lies between two.
bool IntervalSearch::copy_interval() {
  const std::size_t node = below(cluster_.size()), other = below(cluster_.size()), third = below(cluster_.size());
  Interval copied = next_[other];
  if (below(3) == 0) copied = {next_[other].end, next_[third].first};
  if (copied.first >= copied.end || copied == next_[node] || !fits(node, copied)) return false;
  next_[node] = copied;
  return true;
}

// Gives the node the interval with which the flow is largest, of those between ends of the others.
void IntervalSearch::put_back(NodeIndex node) {
  std::vector<Layers> ends{0, cluster_.layers};
  for (const Interval& held : next_)
    if (!held.empty()) {
      ends.push_back(held.first);
      ends.push_back(held.end);
    }
  std::sort(ends.begin(), ends.end());
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  std::vector<Interval> places;
  for (std::size_t i = 0; i < ends.size(); ++i)
    for (std::size_t j = i + 1; j < ends.size() && ends[j] - ends[i] <= cluster_.most(node); ++j)
      places.push_back({ends[i], ends[j]});
  if (places.empty()) return;
  const std::size_t tried = std::min(most_places, places.size());
  Interval best = {};
  Rate best_rate = -1;
  std::uint32_t equals = 0;
  for (std::size_t i = 0; i < tried; ++i) {
    std::swap(places[i], places[i + below(places.size() - i)]);
    next_[node] = places[i];
    const Rate rate = evaluate(next_);
    if (rate > best_rate) equals = 0;
    if (rate >= best_rate && below(++equals) == 0) {
      best = places[i];
      best_rate = rate;
    }
  }
  next_[node] = best;
}

bool IntervalSearch::ruin() {
  NodeIndex out[3] = {};
  const std::size_t count = 1 + below(3);
  for (std::size_t i = 0; i < count; ++i) {
    out[i] = below(cluster_.size());
    next_[out[i]] = {};
  }
  for (std::size_t i = 0; i < count; ++i) put_back(out[i]);
  return true;
}

std::uint64_t IntervalSearch::anneal(std::uint64_t evaluations, double hot, double cold,
                                     const std::function<bool()>& ended) {
  const std::uint64_t begin = evaluations_;
  const std::uint64_t moves = most_moves_per_evaluation * evaluations;
  for (std::uint64_t move = 0; move < moves && evaluations_ - begin < evaluations; ++move) {
    if (enough_ > 0 && best_rate_ >= enough_) break;
    if (move % layouts_between_looks == 0 && ended()) break;
    const double part = static_cast<double>(evaluations_ - begin) / static_cast<double>(evaluations);
    const double temperature = hot * std::pow(cold / hot, part);
    next_ = now_;
    const std::uint32_t kind = below(64);
    const bool changed = kind < 20   ? shift_end()
                         : kind < 34 ? shift_boundary()
                         : kind < 47 ? swap_nodes()
                         : kind < 62 ? copy_interval()
                                     : ruin();
    if (!changed || next_ == now_) continue;
    const Rate rate = evaluate(next_);
    if (rate == 0) continue;
    const double gain = std::log(static_cast<double>(rate) / static_cast<double>(std::max<Rate>(now_rate_, 1)));
    if (gain >= 0 || stream_.uniform() < std::exp(gain / temperature)) {
      std::swap(now_, next_);
      now_rate_ = rate;
    }
  }
  return evaluations_ - begin;
}

}  // namespace emplace::serving
