// The papers' benchmark models, built op by op from their published architectures.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "emplace/base/registry.hpp"
#include "emplace/graph/graph.hpp"

namespace emplace {

struct ZooEntry : EntryInfo {
  // The inference graph; the option `training` adds the backward pass and the updates (graph/passes.hpp).
  std::function<Graph(const ConfigTable& options)> build;
};

std::span<const ZooEntry> zoo();

// "nmt?layers=2&training=true" (what follows "zoo:"). InputError for unknown names, keys and values.
Graph build_zoo_model(std::string_view specification, const std::string& place = {});

}  // namespace emplace
