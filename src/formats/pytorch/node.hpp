// The nodes of a program of torch.export as they are in its JSON (torch/_export/serde/schema.py).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/graph/graph.hpp"
#include "formats/json/members.hpp"

namespace emplace::formats {

// An argument or a result. Texts are those of the document.
struct ProgramArgument {
  std::string_view name;                  // of the argument in the operator's schema; may be ""
  std::vector<std::string_view> tensors;  // "" for an absent one of a list
  bool is_list = false;                   // the tensors are a list
  std::optional<Attribute> attribute;
  std::optional<json::Value> graph;
};

// `value` is a union: {"as_tensor": {"name": "x"}}. Kinds that no cost depends on are left empty.
ProgramArgument read_argument(json::Value value, const json::Place& place);

struct ProgramNode {
  std::string_view target;  // "torch.ops.aten.conv2d.default"
  std::string_view name;    // of the node in torch.fx
  std::string_view module;  // the path of the innermost module that called it ("layers.0.q"); may be ""
  std::vector<ProgramArgument> arguments;
  std::vector<std::string_view> outputs;  // names of tensors
};
ProgramNode read_program_node(json::Value value, const json::Place& place);

// The names of the tensors in a list of arguments, as a graph has its inputs and outputs.
std::vector<std::string_view> read_tensor_names(json::Value list, const json::Place& place);

// The element type that the number stands for; DType::unknown for numbers that are not in the schema.
DType dtype_of_program(std::int64_t number);

}  // namespace emplace::formats
