// For comparing the bits of two runs: checkpoints, metrics and best placements, all without clocks.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "experiment/run/checkpoint.hpp"
#include "experiment/run/checkpoint_image.hpp"

namespace emplace::test {

// Everything in a checkpoint except clocks: one digest per array, of its bits.
inline std::map<std::string, std::string> without_clocks(const std::string& run) {
  const State arrays = experiment::load_newest_checkpoint(run).arrays;
  EXPECT_TRUE(arrays.contains("history/seconds"));
  std::map<std::string, std::string> digests;
  for (const auto& [name, array] : arrays)
    if (name != "history/seconds" && !name.starts_with("history/wall_"))
      digests[name] = experiment::checkpoint_digest({.arrays = {{name, array}}, .attributes = {}});
  return digests;
}

// metrics.csv without its clock columns.
inline std::string metrics_without_clocks(const std::string& run) {
  std::istringstream text(read_file(run + "/metrics.csv"));
  std::string line;
  std::string out;
  std::vector<bool> keep;
  while (std::getline(text, line)) {
    std::istringstream cells(line);
    std::string cell;
    const bool header = keep.empty();
    for (std::size_t column = 0; std::getline(cells, cell, ','); ++column) {
      if (header) keep.push_back(!cell.starts_with("wall_"));
      if (keep.at(column)) out += cell + ',';
    }
    out += '\n';
  }
  return out;
}

// The files of the best placements, one after the other.
inline std::string best_placements(const std::string& run) {
  if (file_exists(run + "/best.placement.json")) return read_file(run + "/best.placement.json");
  std::string text;
  for (int p = 0; file_exists(run + "/best." + std::to_string(p) + ".placement.json"); ++p)
    text += read_file(run + "/best." + std::to_string(p) + ".placement.json");
  EXPECT_NE(text, "");
  return text;
}

}  // namespace emplace::test
