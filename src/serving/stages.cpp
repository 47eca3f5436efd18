#include "serving/stages.hpp"

#include <algorithm>
#include <map>

namespace emplace::serving {

namespace {

// So that the sum over all links of a node is a Rate.
constexpr Rate most_of_a_link = total_rate_limit / Rate{most_nodes};

}  // namespace

void Stage::update(const Cluster& cluster) {
  Layers most = nodes.empty() ? 0 : cluster.layers;
  for (const NodeIndex node : nodes) most = std::min(most, cluster.most(node));
  rate_.assign(most, 0);
  for (const NodeIndex node : nodes)
    for (Layers k = 0; k < most; ++k) rate_[k] += cluster.nodes[node].speed[k];
  at_least_ = rate_;
  for (Layers k = most; k-- > 1;) at_least_[k - 1] = std::max(at_least_[k - 1], at_least_[k]);
}

Layers Stage::length(Rate wanted) const {
  Layers k = most();
  while (k > 0 && rate_[k - 1] < wanted) --k;
  return k;
}

Stages single_chain(const Cluster& cluster) {
  Stages stages;
  std::vector<std::uint8_t> used(cluster.size(), 0);
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    std::size_t next = cluster.size();
    for (std::size_t n = 0; n < cluster.size(); ++n) {
      if (used[n] != 0 || cluster.most(n) == 0) continue;
      if (next == cluster.size() || (!stages.empty() && cluster.between(stages.back().nodes[0], n) >
                                                            cluster.between(stages.back().nodes[0], next)))
        next = n;
    }
    if (next == cluster.size()) break;
    used[next] = 1;
    Stage& stage = stages.emplace_back();
    stage.nodes = {static_cast<NodeIndex>(next)};
    stage.update(cluster);
  }
  return stages;
}

bool links_may_bind(const Cluster& cluster) {
  const std::size_t count = cluster.size();
  std::vector<Rate> fastest(count, 0);
  for (std::size_t n = 0; n < count; ++n)
    for (const Rate speed : cluster.nodes[n].speed) fastest[n] = std::max(fastest[n], speed);
  for (std::size_t n = 0; n < count; ++n) {
    if (cluster.from_source[n] < fastest[n] || cluster.to_sink[n] < fastest[n]) return true;
    for (std::size_t m = 0; m < n; ++m)
      if (cluster.between(n, m) < std::min(fastest[n], fastest[m])) return true;
  }
  return false;
}

Rate rate_of(const Stages& stages, Layers layers) {
  std::vector<Rate> rates;
  for (const Stage& stage : stages) rates.insert(rates.end(), stage.at_least().begin(), stage.at_least().end());
  if (rates.size() < layers) return 0;
  const auto last = rates.begin() + (layers - 1);
  std::nth_element(rates.begin(), last, rates.end(), std::greater());
  return *last;
}

namespace {

// Takes layers from the stages until they have exactly those of the model. Stages that still pass `rate` are preferred.
void trim(const Stages& stages, std::vector<Layers>& length, std::uint64_t surplus, Rate rate) {
  while (surplus > 0) {
    std::size_t best = stages.size();
    Layers kept = 0;
    Rate best_rate = -1;
    for (std::size_t g = 0; g < stages.size(); ++g)
      for (Layers k = length[g]; k-- > 0 && length[g] - k <= surplus;) {
        // Without layers it is left out and limits nothing.
        const Rate with = k == 0 ? rate : std::min(rate, stages[g].rate(k));
        // Of equals the smallest step, and then that of the stage with most layers.
        if (with > best_rate ||
            (with == best_rate && (length[g] - k < length[best] - kept ||
                                   (length[g] - k == length[best] - kept && length[g] > length[best])))) {
          best = g;
          kept = k;
          best_rate = with;
        }
      }
    surplus -= length[best] - kept;
    length[best] = kept;
  }
}

}  // namespace

Layout layout_of(const Cluster& cluster, const Stages& stages) {
  Layout layout(cluster.size());
  const Rate rate = rate_of(stages, cluster.layers);
  if (rate == 0) return layout;
  std::vector<Layers> length;
  std::uint64_t total = 0;
  for (const Stage& stage : stages) total += length.emplace_back(stage.length(rate));
  trim(stages, length, total - cluster.layers, rate);
  Layers at = 0;
  for (std::size_t g = 0; g < stages.size(); ++g) {
    if (length[g] == 0) continue;
    for (const NodeIndex node : stages[g].nodes) layout[node] = {at, at + length[g]};
    at += length[g];
  }
  return layout;
}

Rate rate_between(const Cluster& cluster, const Stage& from, Layers k, const Stage& to, Layers l) {
  Rate sent = 0, received = 0;
  for (const NodeIndex a : from.nodes) {
    Rate sum = 0;
    for (const NodeIndex b : to.nodes) sum += std::min(cluster.between(a, b), most_of_a_link);
    sent += std::min(sum, cluster.nodes[a].speed[k - 1]);
  }
  for (const NodeIndex b : to.nodes) {
    Rate sum = 0;
    for (const NodeIndex a : from.nodes) sum += std::min(cluster.between(a, b), most_of_a_link);
    received += std::min(sum, cluster.nodes[b].speed[l - 1]);
  }
  return std::min(sent, received);
}

Rate rate_from_source(const Cluster& cluster, const Stage& to, Layers k) {
  Rate sum = 0;
  for (const NodeIndex b : to.nodes) sum += std::min(cluster.from_source[b], cluster.nodes[b].speed[k - 1]);
  return sum;
}

Rate rate_to_sink(const Cluster& cluster, const Stage& from, Layers k) {
  Rate sum = 0;
  for (const NodeIndex a : from.nodes) sum += std::min(cluster.to_sink[a], cluster.nodes[a].speed[k - 1]);
  return sum;
}

Stages stages_of(const Cluster& cluster, const Layout& layout) {
  std::map<std::pair<Layers, Layers>, std::vector<NodeIndex>> by_interval;
  for (NodeIndex node = 0; node < layout.size(); ++node)
    if (!layout[node].empty()) by_interval[{layout[node].first, layout[node].end}].push_back(node);
  Stages stages;
  for (auto& [interval, nodes] : by_interval) {
    Stage stage;
    stage.nodes = std::move(nodes);
    stage.update(cluster);
    stages.push_back(std::move(stage));
  }
  return stages;
}

}  // namespace emplace::serving
