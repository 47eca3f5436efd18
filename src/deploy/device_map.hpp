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
  // Modules that no key of the map can express, with their own ops: these are on several devices, or on another device
  // than parts of the module.
  std::map<std::string, std::vector<OpId>> split_modules;
  // Of each op of the model: the module in which it runs, by the file, else by the scope in its name, else by its
  // weights; "" if none of them names one.
  std::vector<std::string> module_of_op;
  std::size_t ops = 0;                 // number of the model's ops in the modules of both maps
  std::vector<std::string> followers;  // names of placed ops that are in none of these: they run where their inputs are
  // Those of the followers whose module is in the map on another device than the op.
  std::vector<std::string> elsewhere;
  std::vector<std::string> unnamed;  // names of ops with weights whose names show no module: the map lacks them
};

// Modules of ops are those that the file names (`modules_in_file`, in the order of the ops; "" for none). For other ops
// they are found from the names of weights ("encoder.layer.0.output.dense.weight") and, if these have no module, from
// the scope that PyTorch's older exporter puts before the names of ops ("/encoder/layer.0/Add"). An op without weights
// is part of a module with weights if its scope is this module. A module whose parts are all on one device replaces
// them in the map; the whole model is "", if the unnamed ops are on this device too. InputError if the model names no
// modules.
DeviceMap device_map(const ModelPlacement& placement, const std::vector<std::string>& modules_in_file = {});

}  // namespace emplace::deploy
