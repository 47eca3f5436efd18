// Any text is a cluster or an InputError; every layout of a cluster that is read has a throughput.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "emplace/base/error.hpp"
#include "serving/cluster_json.hpp"
#include "serving/flow.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  static_cast<void>(emplace::serving::is_cluster_text(text));
  emplace::serving::Cluster cluster;
  try {
    cluster = emplace::serving::read_cluster(text, "fuzz.json");
  } catch (const emplace::InputError&) {
    return 0;
  }
  // Every node holds as much as it can, from the first layer on or up to the last one.
  emplace::serving::Layout layout(cluster.size());
  for (std::size_t n = 0; n < cluster.size(); ++n) {
    const emplace::serving::Layers most = cluster.most(n);
    if (most > 0)
      layout[n] = n % 2 == 0 ? emplace::serving::Interval{0, most}
                             : emplace::serving::Interval{cluster.layers - most, cluster.layers};
  }
  if (emplace::serving::FlowEvaluator(cluster).throughput(layout) < 0) std::abort();
  const std::string written = write_layout(cluster, layout);
  if (read_layout(written, "again.json", cluster) != layout) std::abort();
  return 0;
}
