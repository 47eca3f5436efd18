// The placements of human experts, which the zoo has for its models.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cost/lower.hpp"

namespace emplace::source {

// The device of each of the N ops, as the zoo model's expert places layers (ZooEntry::expert) over all devices of one
// kind: "gpu" if there are any, else the kind of the first device that is no CPU, else over all devices. `lowered` is
// the graph after the passes; its op i is op i of the problem.
std::vector<std::uint8_t> expert_devices(std::string_view zoo_model, const Graph& lowered, const Problem& problem);

// Problem::expert of a graph that is a zoo model; nothing of one from a file. `lowered`: made of the graph by
// cost::lower.
void add_expert(const std::string& graph, cost::Lowered& lowered);

}  // namespace emplace::source
