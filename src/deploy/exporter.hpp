// Exporters write a placement in the form that a framework reads: one entry and one source file for each framework.
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
  std::map<std::string, std::string> renamed;  // names of devices given by the user
  std::string output;                          // a file that ModelPlacement::refuse_to_replace accepts
  // Whether to stop; an exporter that writes many files calls it between them, and throws formats::WritingStopped after
  // it has removed what it wrote.
  std::function<bool()> stop = {};
};

struct Exported {
  std::vector<std::string> files;  // the files written; the first is the output that the user named
  std::vector<std::string> notes;  // further information and things to do, as sentences for people
};

struct ExportEntry : EntryInfo {
  bool needs_file = false;  // true if it copies the model's file, so a zoo model cannot be exported
  std::function<Exported(const ExportRequest&)> write;
};

// "1 op", "2 ops".
std::string counted(std::size_t count, std::string_view noun);
// Some of the names, quoted, and the number of the others, for a note.
std::string listed(const std::vector<std::string>& names);

// openvino, onnx, tensorflow, pytorch, json.
std::span<const ExportEntry> exporters();

}  // namespace emplace::deploy
