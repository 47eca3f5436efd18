// Placers that construct one layout each: what planners and runtimes do today, as references.
#include <algorithm>
#include <map>
#include <numeric>

#include "serving/methods.hpp"
#include "serving/stages.hpp"

namespace emplace::serving {

namespace {

struct NoOptions {};
void describe(NoOptions&, OptionVisitor&) {}

template <Layout (*construct)(const Cluster& cluster)>
PlacerEntry quick_entry(const char* name, const char* summary, const char* reference) {
  PlacerEntry entry;
  entry.name = name;
  entry.summary = summary;
  entry.reference = reference;
  entry.options = list_options<NoOptions>;
  entry.place = [](const Request& request, const ConfigTable& options) {
    read_options<NoOptions>(options);
    return evaluated(*request.cluster, construct(*request.cluster));
  };
  return entry;
}

// One chain of all nodes in the order of the file, each with as near to an equal share as it can hold.
Layout equal_split(const Cluster& cluster) {
  Layout layout(cluster.size());
  std::vector<Layers> share(cluster.size(), 0);
  Layers left = cluster.layers;
  for (bool any = true; left > 0 && any;) {
    any = false;
    for (std::size_t n = 0; n < cluster.size() && left > 0; ++n)
      if (share[n] < cluster.most(n)) {
        ++share[n];
        --left;
        any = true;
      }
  }
  if (left > 0) return layout;
  Layers at = 0;
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    if (share[n] > 0) layout[n] = {at, at + share[n]};
    at += share[n];
  }
  return layout;
}

// Each node in turn takes as many layers as it holds, where those that it would serve have least now (Borzunov et al.
// 2023): it compares the layers' rates from the lowest up.
Layout petals(const Cluster& cluster) {
  Layout layout(cluster.size());
  std::vector<Rate> rate(cluster.layers, 0);
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    const Layers held = cluster.most(n);
    if (held == 0) continue;
    Layers best = 0;
    std::vector<Rate> best_rates;
    for (Layers first = 0; first + held <= cluster.layers; ++first) {
      std::vector<Rate> rates(rate.begin() + first, rate.begin() + first + held);
      std::sort(rates.begin(), rates.end());
      if (first == 0 || rates < best_rates) {
        best = first;
        best_rates = std::move(rates);
      }
    }
    layout[n] = {best, best + held};
    for (Layers layer = best; layer < best + held; ++layer) rate[layer] += cluster.nodes[n].speed[held - 1];
  }
  return layout;
}

// Stages of equal length, as many as are needed so that every node can hold one; the fastest node left joins the stage
// with the lowest rate (Ryabinin et al. 2023).
Layout swarm(const Cluster& cluster) {
  Layout layout(cluster.size());
  Layers least = cluster.layers;
  for (std::size_t n = 0; n < cluster.size(); ++n)
    if (cluster.most(n) > 0) least = std::min(least, cluster.most(n));
  const Layers count = (cluster.layers + least - 1) / least;
  const auto bounds = [&](Layers stage) {
    const auto at = [&](Layers s) { return static_cast<Layers>(std::uint64_t{cluster.layers} * s / count); };
    return Interval{at(stage), at(stage + 1)};
  };
  const auto speed = [&](std::size_t n, Interval held) { return cluster.nodes[n].speed[held.size() - 1]; };
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < cluster.size(); ++n)
    if (cluster.most(n) >= least) order.push_back(n);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return speed(a, bounds(0)) > speed(b, bounds(0)); });
  std::vector<Rate> rate(count, 0);
  for (const std::size_t n : order) {
    const auto stage = static_cast<Layers>(std::min_element(rate.begin(), rate.end()) - rate.begin());
    layout[n] = bounds(stage);
    rate[stage] += speed(n, layout[n]);
  }
  return layout;
}

// The nodes of each type as a chain of their own, as many as hold the model.
Layout separate_pipelines(const Cluster& cluster) {
  std::map<std::string, std::vector<NodeIndex>> of_type;
  for (NodeIndex n = 0; n < cluster.size(); ++n) of_type[cluster.nodes[n].type].push_back(n);
  Layout layout(cluster.size());
  for (const auto& [type, nodes] : of_type) {
    Stages stages;
    for (const NodeIndex n : nodes) {
      Stage& stage = stages.emplace_back();
      stage.nodes = {n};
      stage.update(cluster);
    }
    const Layout chain = layout_of(cluster, stages);
    for (const NodeIndex n : nodes) layout[n] = chain[n];
  }
  return layout;
}

}  // namespace

PlacerEntry equal_split_placer() {
  return quick_entry<equal_split>("equal-split", "One chain of all nodes with equal shares of the layers.", "");
}

PlacerEntry petals_placer() {
  return quick_entry<petals>("petals", "Each node takes all the layers that it holds where the rate is lowest.",
                             "Borzunov et al. 2023 (Petals)");
}

PlacerEntry swarm_placer() {
  return quick_entry<swarm>("swarm", "Stages of equal length; each node joins the one with the lowest rate.",
                            "Ryabinin et al. 2023 (SWARM)");
}

PlacerEntry separate_pipelines_placer() {
  return quick_entry<separate_pipelines>("separate-pipelines", "The nodes of each type are a chain of their own.",
                                         "Mei et al. 2025 (Helix), a baseline");
}

}  // namespace emplace::serving
