// One builder a model; builtin.cpp lists them.
#pragma once

#include "emplace/zoo/zoo.hpp"

namespace emplace {

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

}  // namespace emplace
