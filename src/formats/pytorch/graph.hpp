// Builds a graph from a program of torch.export.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "emplace/formats/reader.hpp"
#include "formats/body_cost.hpp"
#include "formats/json/json.hpp"
#include "formats/memory_budget.hpp"
#include "formats/pytorch/aten.hpp"
#include "formats/pytorch/node.hpp"
#include "formats/pytorch/size_expression.hpp"

namespace emplace::formats {

class GraphFromProgram {
 public:
  // `program` is the root of the JSON; `storage_of_weight` says in which file of the archive a weight is, so that tied
  // weights are one parameter. All arguments must outlive this object.
  GraphFromProgram(json::Value program, const std::map<std::string, std::string, std::less<>>& storage_of_weight,
                   const std::string& file, const ReadOptions& options)
      : program_(program), storage_of_weight_(storage_of_weight), file_(file), options_(options) {}

  // Makes one op for each node that computes tensors. InputError for broken nodes, for another version of the schema,
  // for sizes given for inputs that do not exist, and if the graph would need more than 4 GiB.
  Graph build();

 private:
  struct Weight {
    std::string_view name;
    bool trainable = false;
  };
  // The names of one graph or sub-graph.
  struct Scope {
    std::unordered_map<std::string_view, Operand> operands;
    std::unordered_map<std::string_view, json::Value> values;  // dtype and sizes of its tensors
    std::unordered_map<std::string_view, Weight> weights;      // made into parameters when they are first read
    std::string prefix;                                        // of the names of ops
    int depth = 0;                                             // of sub-graphs
  };

  // Inputs and their sizes (inputs.cpp).
  void read_signature(json::Value signature, const json::Place& place, Scope& scope);
  void bind_symbols(const Scope& scope);
  void bind_symbol(const std::string& symbol, std::int64_t size, const std::string& input);
  void check_ranges() const;
  void add_inputs(Scope& scope);
  void warn_open_inputs(const Scope& scope) const;

  void add_nodes(json::Value graph, const json::Place& place, Scope& scope);
  void add_node(const ProgramNode& node, const std::string& where, Scope& scope);
  void add_op(const ProgramNode& node, const AtenTarget& target, const std::string& where, Scope& scope);
  [[nodiscard]] std::vector<Operand> operands_of(const ProgramNode& node, const AtenOpName& name,
                                                 const std::string& where, Scope& scope);
  Operand operand(std::string_view name, const std::string& where, Scope& scope);
  [[nodiscard]] GraphTensor tensor_of(std::string_view name, const std::string& where, const Scope& scope) const;
  [[nodiscard]] Shape sizes_of(json::Value list, const json::Place& place) const;
  [[nodiscard]] bool is_contiguous(std::string_view name, const Scope& scope) const;
  OpId add(GraphOp op, const ProgramNode& node, const std::string& where, Scope& scope);

  // Data that ops overwrite in place.
  [[nodiscard]] std::uint64_t root_of(const Operand& operand) const;
  void wait_for_writers(GraphOp& op) const;

  // Sub-graphs (subgraphs.cpp).
  void add_control_flow(const ProgramNode& node, const AtenTarget& target, const std::string& where, Scope& scope);
  void inline_subgraph(const ProgramNode& node, std::size_t position, const std::string& where, Scope& scope);
  [[nodiscard]] BodyCost cost_of_subgraph(json::Value graph, const std::string& where, int depth) const;
  [[nodiscard]] std::int64_t first_size(std::string_view tensor, const std::string& where, const Scope& scope) const;

  const json::Value program_;
  const std::map<std::string, std::string, std::less<>>& storage_of_weight_;
  const std::string& file_;
  const ReadOptions& options_;
  Graph graph_;
  SymbolValues symbols_;
  std::vector<std::string_view> inputs_;                          // of the user, in order
  std::unordered_map<std::string_view, Operand> stored_weights_;  // by file of the archive
  std::unordered_map<std::uint64_t, std::uint64_t> roots_;        // of views: the tensor whose data they show
  std::unordered_map<std::uint64_t, OpId> writer_;                // of that data: the last op that overwrote it
  std::size_t unknown_trips_ = 0;
  MemoryBudget memory_{file_};
};

}  // namespace emplace::formats
