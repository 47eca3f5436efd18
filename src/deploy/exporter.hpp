// A placement as a framework takes it: one entry and one file a framework.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "deploy/model_placement.hpp"
#include "emplace/base/registry.hpp"

namespace emplace::deploy {

struct ExportRequest {
  const ModelPlacement& placement;
  std::map<std::string, std::string> renamed;  // devices, by the user
  std::string output;                          // where ModelPlacement::refuse_to_replace does not refuse
};

struct Exported {
  std::vector<std::string> files;  // written, the first as asked
  std::vector<std::string> notes;  // what else there is to know or to do, as sentences for people
};

struct ExportEntry : EntryInfo {
  bool needs_file = false;  // it copies the model's file
  std::function<Exported(const ExportRequest&)> write;
};

// "1 op", "2 ops".
std::string counted(std::size_t count, std::string_view noun);
// Some of them quoted, and how many more there are, for a note.
std::string listed(const std::vector<std::string>& names);

// openvino, onnx, tensorflow, pytorch, json.
std::span<const ExportEntry> exporters();

}  // namespace emplace::deploy
