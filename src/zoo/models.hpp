// The builders, one for each model; builtin.cpp lists them.
#pragma once

#include "zoo/zoo.hpp"

namespace emplace::zoo {

// Expert placements (ZooEntry::expert), in expert.cpp.
using LayerNames = std::span<const std::string>;
// Parts of equal depth, one for each device: for convolutional networks (Mirhoseini et al. 2017) and stacks of layers.
std::vector<std::size_t> expert_in_parts(LayerNames layers, std::size_t devices);
// Layer k of "encoder/k" and of "decoder/k" on device k, round robin; embeddings with the first layer, attention and
// softmax with the last (Wu et al. 2016; Mirhoseini et al. 2017).
std::vector<std::size_t> expert_by_number(LayerNames layers, std::size_t devices);
// Experts in turn over all devices (Lepikhin et al. 2021), the rest in parts of equal depth.
std::vector<std::size_t> expert_with_experts(LayerNames layers, std::size_t devices);

ZooEntry inception_v3_entry();
ZooEntry resnet_50_entry();
ZooEntry resnet_101_entry();
ZooEntry resnet_152_entry();
ZooEntry rnnlm_entry();
ZooEntry nmt_entry();
ZooEntry gnmt_entry();
ZooEntry transformer_xl_entry();
ZooEntry amoebanet_d_entry();
ZooEntry nasnet_a_entry();
ZooEntry wavenet_entry();
ZooEntry bert_base_entry();
ZooEntry bert_large_entry();
ZooEntry gpt_2_entry();
ZooEntry vit_b_16_entry();
ZooEntry moe_transformer_entry();
// One for each family of presets (language_models.cpp).
std::vector<ZooEntry> language_model_entries();

}  // namespace emplace::zoo
