// Tries every layout of a small cluster.
#include <algorithm>

#include "emplace/base/error.hpp"
#include "search/common/deadline.hpp"
#include "serving/methods.hpp"

namespace emplace::serving {

namespace {

struct ExactOptions {
  std::int64_t layouts = 20'000'000;
};
void describe(ExactOptions& o, OptionVisitor& visit) {
  visit("layouts", o.layouts, {.min = 1, .max = 1e12, .help = "Clusters with more layouts are refused."});
}

std::vector<Interval> intervals_of(const Cluster& cluster, std::size_t node) {
  std::vector<Interval> all{{}};
  for (Layers first = 0; first < cluster.layers; ++first)
    for (Layers end = first + 1; end <= cluster.layers && end - first <= cluster.most(node); ++end)
      all.push_back({first, end});
  return all;
}

// Whether the nodes differ in nothing but their names, so that exchanging them changes no throughput.
bool alike(const Cluster& cluster, std::size_t a, std::size_t b) {
  if (cluster.nodes[a].speed != cluster.nodes[b].speed || cluster.from_source[a] != cluster.from_source[b] ||
      cluster.to_sink[a] != cluster.to_sink[b])
    return false;
  for (std::size_t other = 0; other < cluster.size(); ++other)
    if (other != a && other != b && cluster.between(a, other) != cluster.between(b, other)) return false;
  return true;
}

Result place_exact(const Request& request, const ConfigTable& table) {
  const ExactOptions options = read_options<ExactOptions>(table);
  const Cluster& cluster = *request.cluster;
  const std::size_t count = cluster.size();
  if (!has_few_layouts(cluster, static_cast<double>(options.layouts)))
    throw InputError("exact", "this cluster has more than {} layouts, the most that are tried", options.layouts);
  std::vector<std::vector<Interval>> choices;
  std::vector<std::size_t> like(count);  // a node before it that it is like, or itself
  for (std::size_t n = 0; n < count; ++n) {
    choices.push_back(intervals_of(cluster, n));
    like[n] = n;
    for (std::size_t other = n; other-- > 0 && like[n] == n;)
      if (alike(cluster, other, n)) like[n] = other;
  }
  const search::Deadline deadline(request.seconds, request.stop);
  FlowEvaluator flow(cluster);
  Result best;
  best.layout.resize(count);
  Layout layout(count);
  std::vector<std::size_t> at(count, 0);
  bool all = false;
  while (!request.evaluations || best.evaluations < *request.evaluations) {
    if (best.evaluations % 1024 == 1023 && deadline.passed()) break;
    for (std::size_t n = 0; n < count; ++n) layout[n] = choices[n][at[n]];
    ++best.evaluations;
    if (const Rate rate = flow.throughput(layout); rate > best.throughput) {
      best.throughput = rate;
      best.layout = layout;
    }
    // The next one, like a number with a digit for each node; of nodes that are alike, the later ones have no larger
    // one.
    std::size_t n = count;
    while (n > 0) {
      --n;
      const std::size_t end = like[n] == n ? choices[n].size() : at[like[n]] + 1;
      if (++at[n] < end) break;
      at[n] = 0;
      if (n == 0) all = true;
    }
    if (all) break;
  }
  if (all) {
    best.upper_bound = best.throughput;
    best.bound_method = "exact";
  }
  return best;
}

}  // namespace

bool has_few_layouts(const Cluster& cluster, double most) {
  double layouts = 1;
  for (std::size_t n = 0; n < cluster.size() && layouts <= most; ++n) {
    // One empty interval, and for each length one less place than layers are left.
    double intervals = 1;
    for (Layers k = 1; k <= cluster.most(n); ++k) intervals += cluster.layers - k + 1;
    layouts *= intervals;
  }
  return layouts <= most;
}

PlacerEntry exact_placer() {
  PlacerEntry entry;
  entry.name = "exact";
  entry.summary = "Every layout of a small cluster.";
  entry.quick = false;
  entry.options = list_options<ExactOptions>;
  entry.place = place_exact;
  return entry;
}

}  // namespace emplace::serving
