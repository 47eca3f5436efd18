// Readers of model files; each format has one entry.
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
  // The options after '?' of "FILE?key=value", for readers that have options (EntryInfo::options).
  ConfigTable query = {};
};

struct ReaderEntry : EntryInfo {
  // Returns whether the file looks like this format. `head` is its first 4 KiB.
  std::function<bool(const std::string& path, std::string_view head)> recognises;
  // Returns the graph of the file: one op for each node; weights are parameters. Throws InputError with file, node and
  // reason.
  std::function<Graph(const std::string& path, const ReadOptions& options)> read;
  // Returns the other files that hold weights of the model; not set for formats without such files. InputError as
  // `read`.
  std::function<std::vector<std::string>(const std::string& path)> weights_beside = {};
};

// Every reader, in the order in which they are asked whether they recognise a file.
std::span<const ReaderEntry> readers();
// Adds an entry (base/registry.hpp). InputError for a name that is taken or malformed.
void register_reader(ReaderEntry entry);

// "DIR/config.json" for a folder that has one (a model of Hugging Face), else the path itself.
std::string model_file(const std::string& path);

// The first reader that recognises the file, or the folder's config.json; nullptr if none does. InputError if the file
// cannot be read.
const ReaderEntry* reader_of(const std::string& path);

// Throws InputError unless the reader called `name` reads the file; `wanted` ("an ONNX model") is for the message.
void check_reader(const std::string& path, std::string_view name, std::string_view wanted);

// The files that must not be overwritten if the model is to stay intact: the model and the files that hold its weights.
// Only `path` if no reader recognises the file.
std::vector<std::string> files_of_model(const std::string& path);

// Reads the file with the reader that recognises it; InputError if none does.
Graph read_graph(const std::string& path, const ReadOptions& options = {});

}  // namespace emplace::formats
