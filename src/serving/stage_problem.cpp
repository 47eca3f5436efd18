#include "serving/stage_problem.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "emplace/problem/builder.hpp"
#include "formats/workload/workload.hpp"
#include "serving/cluster_json.hpp"

namespace emplace::serving {

namespace {

constexpr std::size_t most_stages = 64;
constexpr const char* unused = "unused";

// Twice as many as nodes of mean size need for one pipeline, so that there is a choice of where the small ones go.
std::size_t count_stages(const Cluster& cluster) {
  std::size_t held = 0;
  for (std::size_t n = 0; n < cluster.size(); ++n) held += cluster.most(n);
  const std::size_t wanted = held == 0 ? 1 : (2 * cluster.layers * cluster.size() + held - 1) / held;
  return std::clamp<std::size_t>(wanted, 1, std::min(most_stages, cluster.size()));
}

// The seconds of a token on a node with its part of the layers.
double seconds_of(const Cluster& cluster, std::size_t node, std::size_t stages) {
  const Layers part = std::min<Layers>(cluster.most(node), static_cast<Layers>((cluster.layers + stages - 1) / stages));
  return 1 / std::max(tokens_per_s(cluster.nodes[node].speed[part - 1]), rate_unit);
}

using Key = std::pair<std::size_t, std::size_t>;

template <typename KeyOf>
Layout layout_by(const Cluster& cluster, std::span<const std::uint8_t> devices, std::size_t stages, KeyOf key_of) {
  std::map<Key, std::vector<NodeIndex>> members;
  for (NodeIndex node = 0; node < cluster.size(); ++node)
    if (devices[node] < stages && cluster.most(node) > 0) members[key_of(node)].push_back(node);
  Stages all;
  for (auto& [key, nodes] : members) {
    Stage& stage = all.emplace_back();
    stage.nodes = std::move(nodes);
    stage.update(cluster);
  }
  return layout_of(cluster, all);
}

bool is_empty(const Layout& layout) { return std::ranges::all_of(layout, &Interval::empty); }

}  // namespace

Problem stage_problem(const Cluster& cluster, const std::string& name) {
  const std::size_t stages = count_stages(cluster);
  ProblemBuilder builder(name);
  for (std::size_t stage = 0; stage < stages; ++stage)
    builder.add_device({fmt::format("stage{}", stage), "stage", no_memory_limit});
  builder.add_device({unused, unused, no_memory_limit});
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    OpSpec op;
    op.name = cluster.nodes[n].name;
    op.type = cluster.nodes[n].type.empty() ? "node" : cluster.nodes[n].type;
    const bool holds = cluster.most(n) > 0;
    op.seconds.assign(stages, holds ? seconds_of(cluster, n, stages) : std::numeric_limits<double>::quiet_NaN());
    op.seconds.push_back(holds ? op.seconds.front() : 0);
    builder.add_op(op);
  }
  return builder.build();
}

Layout layout_of_devices(const Cluster& cluster, std::span<const std::uint8_t> devices) {
  const std::size_t stages = count_stages(cluster);
  Layout layout = layout_by(cluster, devices, stages, [&](NodeIndex node) { return Key(devices[node], 0); });
  if (is_empty(layout))
    layout =
        layout_by(cluster, devices, stages, [&](NodeIndex node) { return Key(devices[node], cluster.most(node)); });
  if (is_empty(layout))
    layout = layout_by(cluster, devices, stages, [&](NodeIndex node) { return Key(devices[node], node); });
  return layout;
}

Layout read_layout_or_placement(std::string_view text, const std::string& file, const Cluster& cluster) {
  const formats::TextOutline outline = formats::outline_of(text);
  if (!outline.has("emplace")) return read_layout(text, file, cluster);
  const Problem problem = stage_problem(cluster, cluster.name);
  return layout_of_devices(cluster, formats::read_placement_text(text, file, problem).placement.device);
}

}  // namespace emplace::serving
