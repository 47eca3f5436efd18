// How PyTorch places a model: a device for each module by name, `device_map = {"encoder.layer.0": "cuda:0", ...}`, as
// accelerate and transformers read it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "deploy/model_placement.hpp"

namespace emplace::deploy {

struct DeviceMap {
  std::map<std::string, std::string> device_of_module;  // no module is a part of another one in the map
  std::size_t ops = 0;                                  // number of the model's ops in these modules
  std::vector<std::string> followers;  // names of placed ops without weights: they run where their inputs are
  std::vector<std::string> unnamed;    // names of ops with weights whose names show no module: the map lacks them
};

// Modules are found from the names of weights ("encoder.layer.0.output.dense.weight") and, if these have no module,
// from the scope that PyTorch's exporter puts before the names of ops ("/encoder/layer.0/Add"). A module whose parts
// are all on one device replaces them in the map; the whole model is "", if the unnamed ops are on this device too.
// InputError, with the reason, if the model names no modules, or if ops with the weights of one module are on several
// devices.
DeviceMap device_map(const ModelPlacement& placement);

}  // namespace emplace::deploy
