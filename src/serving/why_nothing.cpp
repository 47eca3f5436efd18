#include "serving/why_nothing.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace emplace::serving {

std::string why_nothing(const Cluster& cluster) {
  std::uint64_t held = 0;
  for (std::size_t n = 0; n < cluster.size(); ++n) held += cluster.most(n);
  if (held < cluster.layers)
    return fmt::format("the nodes hold {} layers together, and the model has {}", held, cluster.layers);
  return "no links lead from the source through nodes with all layers to the sink";
}

std::string why_nothing(const Cluster& cluster, const Layout& layout) {
  std::vector<Layers> reached{0};
  // Ends of intervals that follow each other from layer 0, links aside.
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const Interval& held : layout)
      if (!held.empty() && held.first == reached[i] &&
          std::find(reached.begin(), reached.end(), held.end) == reached.end())
        reached.push_back(held.end);
  const Layers last = *std::max_element(reached.begin(), reached.end());
  if (last < cluster.layers)
    return last == 0 ? "no node begins with layer 0"
                     : fmt::format("intervals follow each other from layer 0 to layer {}, where no node begins", last);
  return "no links join intervals that follow each other from the source to the sink";
}

}  // namespace emplace::serving
