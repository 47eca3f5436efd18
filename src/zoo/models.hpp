// One builder a model; builtin.cpp lists them.
#pragma once

#include "emplace/zoo/zoo.hpp"

namespace emplace {

ZooEntry inception_v3_entry();
ZooEntry resnet_50_entry();
ZooEntry resnet_101_entry();
ZooEntry resnet_152_entry();
ZooEntry nmt_entry();
ZooEntry bert_base_entry();
ZooEntry bert_large_entry();
ZooEntry gpt_2_entry();
ZooEntry vit_b_16_entry();

}  // namespace emplace
