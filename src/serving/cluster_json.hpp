// Reads clusters and layouts, and writes layouts (docs/formats.md).
#pragma once

#include <string>
#include <string_view>

#include "serving/cluster.hpp"

namespace emplace::serving {

// Whether the text looks like a cluster: an object with the keys "layers", "nodes" and "links", and no other format's
// name in "emplace".
bool is_cluster_text(std::string_view text);
bool is_cluster_file(const std::string& file);

// Throws InputError with file and place for anything that docs/formats.md does not allow.
Cluster read_cluster(std::string_view text, const std::string& file);
Cluster read_cluster_file(const std::string& file);

// {"n3": [0, 12], ...}: nodes that are left out hold nothing. Also takes an object that has such a layout under the key
// "layout", as `place --json` prints it.
Layout read_layout(std::string_view text, const std::string& file, const Cluster& cluster);
// One line; nodes that hold nothing are left out.
std::string write_layout(const Cluster& cluster, const Layout& layout);

}  // namespace emplace::serving
