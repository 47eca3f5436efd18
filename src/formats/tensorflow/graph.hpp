// Builds a graph from TensorFlow nodes that are added one after the other.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/name_table.hpp"
#include "emplace/formats/reader.hpp"
#include "formats/memory_budget.hpp"
#include "formats/tensorflow/node.hpp"

namespace emplace::formats {

// What the outputs of a node that is not in the graph stand for ("node:1"), and what those wait for that wait for it.
struct TfCall {
  std::vector<std::string> outputs, waits;  // waits: "^node"
};

class GraphFromTensorflow {
 public:
  // Keeps references to both arguments.
  GraphFromTensorflow(const std::string& file, const ReadOptions& options) : file_(file), options_(options) {}

  // Nodes may be added in any order. InputError for empty and repeated names, for unknown element types, and if the
  // graph would need more than 4 GiB.
  void add(TfNode node);

  // From here on inputs that name `name` mean the outputs of other nodes. InputError if a node has the name.
  void add_call(std::string name, TfCall call);

  // Connects the nodes. The edges NextIteration -> Merge of loops are cut (Graph::cut_edges): a loop is costed as one
  // iteration. InputError for inputs that do not exist, other cycles, and sizes given for inputs that do not exist.
  Graph finish();

 private:
  // The facts about a node that are needed until all nodes have been added.
  struct Source {
    std::string op;  // TensorFlow's name of the op type
    std::vector<std::string> inputs;
    std::vector<std::string> colocated_with;  // "loc:@name" of _class
    bool gives_handle = false;                // of a variable or table
    bool states_outputs = false;              // `shapes` lists all outputs (_output_shapes)
    std::vector<Shape> shapes;
    std::vector<DType> dtypes;  // the last one also holds for all further outputs
  };
  // An output that a node states or that another node reads; sorted and without repetitions, these are the tensors.
  struct Output {
    std::uint32_t op = 0, position = 0;
    friend auto operator<=>(const Output&, const Output&) = default;
  };
  static constexpr std::uint32_t no_op = OpId::none_value;

  [[nodiscard]] std::string place(std::size_t op) const;
  void fix_input(const std::string& name, Shape& shape);
  void check_options() const;
  void fix_inner_sizes();
  void resolve(std::size_t op);
  [[nodiscard]] std::string through_calls(std::string text, std::size_t op) const;
  void add_waits(std::string_view name, std::vector<std::string>& waits, std::unordered_set<std::string_view>& seen);
  void replace_calls(std::size_t op);
  [[nodiscard]] auto name_at() const {
    return [this](std::uint32_t op) { return std::string_view(graph_.ops[op].name); };
  }
  void join_groups();
  void add_tensors();
  void connect(std::size_t op);
  Operand add_missing_weight(std::size_t op, const std::string& name);

  const std::string& file_;
  const ReadOptions& options_;
  Graph graph_;
  std::vector<Source> sources_;
  NameTable names_;  // names of the ops
  std::unordered_map<std::string, TfCall> calls_;
  std::unordered_map<std::string, ParameterId> missing_weights_;
  std::vector<std::string> input_names_;
  std::unordered_map<std::size_t, Shape> open_inputs_;  // placeholders before --shape and --batch
  std::vector<Shape> stated_;                           // per tensor, as the file states it
  bool any_states_outputs_ = false;
  std::vector<std::vector<Output>> wanted_;  // per op and data input; no_op: none or a missing weight
  std::vector<Output> outputs_;
  MemoryBudget memory_{file_};
  bool batch_used_ = false;
};

}  // namespace emplace::formats
