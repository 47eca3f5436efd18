// The papers' benchmark models, built op by op from their published architectures.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/graph/graph.hpp"

namespace emplace::zoo {

struct ZooEntry : EntryInfo {
  // Builds the inference graph; the option `training` adds the backward pass and the updates (graph/passes.hpp).
  std::function<Graph(const ConfigTable& options)> build;
  // The human expert's placement on `devices` equal devices (at least one): for each layer, the index of a device.
  // `layers` are those of layers_of.
  std::function<std::vector<std::size_t>(std::span<const std::string> layers, std::size_t devices)> expert;
  // False: it is only evaluated, and has no options for training and detail.
  bool trains = true;
};

// The layers of a graph's ops (GraphOp::layer), each once: in the order of the ops with operands, then the layers that
// only ops without operands have, since passes put variables and constants first.
std::vector<std::string> layers_of(const Graph& graph);

std::span<const ZooEntry> zoo();

// Builds a model from the text after "zoo:", such as "nmt?layers=2&training=true". InputError for unknown names, keys
// and values.
Graph build_zoo_model(std::string_view specification, const std::string& place = {});

}  // namespace emplace::zoo
