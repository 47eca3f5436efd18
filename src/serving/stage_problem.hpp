// A serving problem as policies see one: the ops are the cluster's nodes, the devices the stages of a pipeline, and one
// more device for nodes that hold nothing. Which layers a stage holds follows from its nodes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "emplace/problem/problem.hpp"
#include "serving/stages.hpp"

namespace emplace::serving {

// Ops have the names and types of the nodes, no tensors, and the seconds that a token takes on a node that holds an
// equal part of the layers. `name` is the problem's.
Problem stage_problem(const Cluster& cluster, const std::string& name);

// N: each node's device. Stages that together cannot hold the model are divided by the most layers that their nodes
// hold, and if that is not enough into single nodes; all intervals are empty if even these cannot.
Layout layout_of_devices(const Cluster& cluster, std::span<const std::uint8_t> devices);

// Reads a layout (cluster_json.hpp), or a placement JSON of the stage problem, which a training writes.
Layout read_layout_or_placement(std::string_view text, const std::string& file, const Cluster& cluster);

}  // namespace emplace::serving
