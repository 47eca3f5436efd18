// Readers of model files: one entry and one file a format.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/registry.hpp"
#include "emplace/graph/graph.hpp"

namespace emplace::formats {

struct ReadOptions {
  // --shape input=1x3x224x224: sizes of named graph inputs.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  // --batch: the value of an unknown first dimension of every graph input.
  std::optional<std::int64_t> batch;
};

struct ReaderEntry : EntryInfo {
  // Does the file look like this format? `head` is its first 4 KiB.
  std::function<bool(const std::string& path, std::string_view head)> recognises;
  // The graph as the file has it: one op a node; weights are parameters. InputError with file, node and reason.
  std::function<Graph(const std::string& path, const ReadOptions& options)> read;
  // Other files that hold weights of the model; formats without such files have none. InputError as for `read`.
  std::function<std::vector<std::string>(const std::string& path)> weights_beside = {};
};

std::span<const ReaderEntry> readers();

// The first reader that recognises the file; nullptr if none does. InputError if it cannot be read.
const ReaderEntry* reader_of(const std::string& path);

// InputError unless the reader called `name` reads the file; `wanted` ("an ONNX model") is for the message.
void check_reader(const std::string& path, std::string_view name, std::string_view wanted);

// Files that would damage the model if they were replaced: itself, and those that hold its weights. Just `path` for a
// file that no reader knows.
std::vector<std::string> files_of_model(const std::string& path);

// Reads with the one that recognises it.
Graph read_graph(const std::string& path, const ReadOptions& options = {});

}  // namespace emplace::formats
