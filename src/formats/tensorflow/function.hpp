// Functions of a GraphDef's library (function.proto): sub-graphs that nodes call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/memory_budget.hpp"
#include "formats/tensorflow/node.hpp"

namespace emplace::formats {

struct TfFunction {
  std::string name;
  std::vector<std::string> inputs, outputs;  // the names of its arguments and results
  bool has_lists = false;                    // an argument or result stands for several tensors
  std::vector<TfNode> nodes;
  std::vector<std::pair<std::string, std::string>> results;  // (result, "node:output:position" or argument)
  std::vector<std::string> waits;                            // nodes with effects, for which the caller waits
};

class TfLibrary {
 public:
  // `file` must outlive the library.
  explicit TfLibrary(const std::string& file) : file_(file) {}

  // Reads a FunctionDefLibrary from the cursor, which must be at the start of that message. InputError for functions
  // without a name or with that of another, and for a library that takes more than 4 GiB.
  void read(ProtoCursor& in);
  // nullptr if there is none.
  [[nodiscard]] const TfFunction* find(std::string_view name) const;

 private:
  const std::string& file_;
  std::unordered_map<std::string, TfFunction> functions_;
  MemoryBudget memory_{file_};
};

// The memory that a node takes.
[[nodiscard]] std::size_t memory_of(const TfNode& node);

// In functions, inputs name an output of a node by its name in the op's definition and a position ("split:output:1");
// this is the output's place among all outputs. nullopt if the op has several named outputs that are not known here.
[[nodiscard]] std::optional<std::int64_t> output_place(std::string_view op, std::string_view output,
                                                       std::int64_t position);

}  // namespace emplace::formats
