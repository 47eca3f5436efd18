// PyTorch's way to place a model: modules by name, `device_map = {"encoder.layer.0": "cuda:0", ...}`, as accelerate and
// transformers take it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deploy/model_placement.hpp"

namespace emplace::deploy {

struct DeviceMap {
  std::map<std::string, std::string> device_of_module;  // no module of which another one is a part
  std::size_t ops = 0;                                  // of the model that are in these modules
  std::vector<std::string> followers;  // names of placed ops without weights: they run where what they read lies
  std::vector<std::string> unnamed;    // of those with weights whose names tell no module: the map lacks them
};

// Modules are known by the names of weights ("encoder.layer.0.output.dense.weight") and, for ops without weights, by
// the scope that PyTorch's exporter puts before their names ("/encoder/layer.0/Add"). A module whose parts are all on
// one device stands for them, and the whole model ("") if the unnamed ops are there too. InputError, with the reason,
// where the model names no modules, and where ops with the weights of one module are on several devices.
DeviceMap device_map(const ModelPlacement& placement);

}  // namespace emplace::deploy
