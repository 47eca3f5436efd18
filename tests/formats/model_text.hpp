// Model files whose content a test writes down.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "emplace/base/error.hpp"
#include "emplace/formats/reader.hpp"
#include "tests/support/temporary_folder.hpp"

namespace emplace::formats {

inline Graph read_model_text(std::string_view content, const std::string& name, const ReadOptions& options = {}) {
  const test::TemporaryFolder folder;
  const std::string path = folder / name;
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  return read_graph(path, options);
}

// What the reader says, without the folder's name, which it must start with.
inline std::string refusal_of(std::string_view content, const std::string& name, const ReadOptions& options = {}) {
  const test::TemporaryFolder folder;
  const std::string path = folder / name;
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
  try {
    read_graph(path, options);
  } catch (const InputError& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with(path)) << what;
    return what.substr(path.size());
  }
  return "read without an error";
}

inline const GraphOp& op_named(const Graph& graph, const std::string& name) {
  for (const GraphOp& op : graph.ops)
    if (op.name == name) return op;
  throw std::runtime_error("no op " + name);
}

inline const GraphTensor& tensor_named(const Graph& graph, const std::string& name) {
  for (const GraphTensor& tensor : graph.tensors)
    if (tensor.name == name) return tensor;
  throw std::runtime_error("no tensor " + name);
}

}  // namespace emplace::formats
