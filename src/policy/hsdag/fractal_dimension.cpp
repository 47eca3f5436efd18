#include "policy/hsdag/fractal_dimension.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace emplace::policy {

namespace {

constexpr std::uint32_t unseen = ~std::uint32_t{0};

// Sums of log r and (log r)^2 over r = 1, ..., i.
struct LogSums {
  std::vector<double> first{0}, second{0};
  void reach(std::size_t r) {
    while (first.size() <= r) {
      const double log = std::log(static_cast<double>(first.size()));
      first.push_back(first.back() + log);
      second.push_back(second.back() + log * log);
    }
  }
};

// The slope for an N(v, r) that is steps[i].count from r = steps[i].radius on; the largest radius is `last`.
struct Step {
  std::uint32_t radius;
  double count;
};
double slope(std::span<const Step> steps, std::uint32_t last, LogSums& sums) {
  if (last < 2) return 0;
  sums.reach(last);
  const auto radii = static_cast<double>(last);
  double logs = 0, products = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::uint32_t end = i + 1 < steps.size() ? steps[i + 1].radius - 1 : last;
    const double log = std::log(steps[i].count);
    logs += log * (end - steps[i].radius + 1);
    products += log * (sums.first[end] - sums.first[steps[i].radius - 1]);
  }
  const double mean = sums.first[last] / radii;
  return (products - mean * logs) / (sums.second[last] - mean * sums.first[last]);
}

// Breadth-first search; later runs reuse its memory.
class Search {
 public:
  explicit Search(const NodeGraph& graph) : graph_(graph), distance_(graph.nodes, unseen) {}

  // Looks at no more than `edges` neighbours; a level that exceeds this limit is dropped as a whole.
  void run(std::uint32_t from, std::size_t edges = ~std::size_t{0}) {
    for (const std::uint32_t node : queue_) distance_[node] = unseen;
    queue_.assign(1, from);
    levels_.assign(1, 1);
    distance_[from] = 0;
    whole_ = true;
    std::size_t looked = 0;
    for (std::size_t begin = 0; begin < queue_.size();) {
      const std::size_t end = queue_.size();
      for (std::size_t at = begin; at < end; ++at) {
        looked += graph_.neighbours[queue_[at]].size();
        if (looked > edges) {
          for (std::size_t i = end; i < queue_.size(); ++i) distance_[queue_[i]] = unseen;
          queue_.resize(end);
          whole_ = false;
          return;
        }
        for (const std::uint32_t next : graph_.neighbours[queue_[at]])
          if (distance_[next] == unseen) {
            distance_[next] = static_cast<std::uint32_t>(levels_.size());
            queue_.push_back(next);
          }
      }
      begin = end;
      if (queue_.size() > end) levels_.push_back(queue_.size());
    }
  }

  [[nodiscard]] std::uint32_t distance(std::uint32_t node) const { return distance_[node]; }
  [[nodiscard]] std::span<const std::uint32_t> reached() const { return queue_; }  // nearest first
  [[nodiscard]] bool whole() const { return whole_; }                              // it reached the whole component
  // The radius up to which all nodes are reached; add_steps() appends N(v, r) up to there.
  [[nodiscard]] std::uint32_t radius() const { return static_cast<std::uint32_t>(levels_.size() - 1); }
  void add_steps(std::vector<Step>& steps) const {
    for (std::uint32_t r = 1; r <= radius(); ++r) steps.push_back({r, static_cast<double>(levels_[r] - 1)});
  }

 private:
  const NodeGraph& graph_;
  std::vector<std::uint32_t> distance_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::size_t> levels_;  // nodes up to each distance
  bool whole_ = false;
};

// Distances from one component's sources, and from the ends of a long path in it.
class Sampled {
 public:
  Sampled(std::span<const std::uint32_t> nodes, const FractalSampling& sampling, Search& search, Stream& random,
          std::vector<std::uint32_t>& place)
      : count_(std::min(sampling.sources, nodes.size())), place_(place) {
    std::vector<std::uint32_t> left(nodes.begin(), nodes.end());
    for (std::uint32_t i = 0; i < left.size(); ++i) place_[left[i]] = i;
    distances_.resize(left.size() * (count_ + 2));
    for (std::size_t k = 0; k < count_; ++k) {  // without repetition
      std::swap(left[k], left[k + random.below(static_cast<std::uint32_t>(left.size() - k))]);
      note(search, left[k], k);
    }
    search.run(left.front());
    const std::uint32_t end = search.reached().back();
    note(search, end, count_);
    note(search, search.reached().back(), count_ + 1);
  }

  // The node's distances from the sources, then from the two ends.
  [[nodiscard]] std::span<const std::uint32_t> from(std::uint32_t node) const {
    return std::span(distances_).subspan(place_[node] * (count_ + 2), count_ + 2);
  }
  [[nodiscard]] std::size_t sources() const { return count_; }

 private:
  void note(Search& search, std::uint32_t source, std::size_t column) {
    search.run(source);
    for (const std::uint32_t node : search.reached())
      distances_[place_[node] * (count_ + 2) + column] = search.distance(node);
  }

  std::size_t count_;
  std::vector<std::uint32_t>& place_;  // position of each node in its component
  std::vector<std::uint32_t> distances_;
};

// Appends estimated steps to those of a node's own search, up to all `others` of its component. Returns the last
// radius.
std::uint32_t add_sampled_steps(const Search& search, std::size_t others, std::span<const std::uint32_t> distances,
                                std::size_t sources, std::vector<std::uint32_t>& far, std::vector<Step>& steps) {
  const std::uint32_t seen = search.radius();
  far.clear();
  for (const std::uint32_t distance : distances.first(sources))
    if (distance > seen) far.push_back(distance);
  std::ranges::sort(far);
  const auto near = static_cast<double>(search.reached().size() - 1);
  const double rest = static_cast<double>(others) - near;
  const std::uint32_t last = std::max(seen + 1, std::ranges::max(distances));
  // N(v, r) also grows at radii before the first source is reached.
  if (far.empty() || far.front() > seen + 1) steps.push_back({seen + 1, near + 1});
  for (std::size_t i = 0; i < far.size(); ++i) {
    const double within = near + rest * static_cast<double>(i + 1) / static_cast<double>(far.size());
    if (!steps.empty() && steps.back().radius == far[i])
      steps.back().count = within;
    else
      steps.push_back({far[i], within});
  }
  if (steps.back().radius < last)
    steps.push_back({last, static_cast<double>(others)});
  else
    steps.back().count = static_cast<double>(others);
  return last;
}

}  // namespace

std::vector<float> fractal_dimensions(const NodeGraph& graph) {
  Search search(graph);
  LogSums sums;
  std::vector<Step> steps;
  std::vector<float> dimensions(graph.nodes);
  for (std::uint32_t node = 0; node < graph.nodes; ++node) {
    search.run(node);
    steps.clear();
    search.add_steps(steps);
    dimensions[node] = static_cast<float>(slope(steps, search.radius(), sums));
  }
  return dimensions;
}

std::vector<float> fractal_dimensions(const NodeGraph& graph, const FractalSampling& sampling, Stream random) {
  Search search(graph), component(graph);
  LogSums sums;
  std::vector<Step> steps;
  std::vector<float> dimensions(graph.nodes);
  std::vector<std::uint32_t> place(graph.nodes, unseen), far;
  std::vector<char> done(graph.nodes, 0);
  for (std::uint32_t first = 0; first < graph.nodes; ++first) {
    if (done[first] != 0) continue;
    component.run(first);
    const std::vector<std::uint32_t> nodes(component.reached().begin(), component.reached().end());
    std::unique_ptr<Sampled> sampled;
    for (const std::uint32_t node : nodes) {
      done[node] = 1;
      search.run(node, sampling.edges);
      steps.clear();
      search.add_steps(steps);
      std::uint32_t last = search.radius();
      if (!search.whole()) {
        if (!sampled) sampled = std::make_unique<Sampled>(nodes, sampling, component, random, place);
        last = add_sampled_steps(search, nodes.size() - 1, sampled->from(node), sampled->sources(), far, steps);
      }
      dimensions[node] = static_cast<float>(slope(steps, last, sums));
    }
  }
  return dimensions;
}

}  // namespace emplace::policy
