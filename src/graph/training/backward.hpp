// Reverse-mode differentiation of a graph: collects the gradients of tensors and parameters while gradient rules emit
// backward ops in reverse topological order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/passes/passes.hpp"

namespace emplace {

class Backward {
 public:
  // `graph` is the forward graph; backward ops are appended to it.
  Backward(Graph& graph, const TrainingOptions& options);

  // Emits everything: gradients of the model's outputs, backward ops, sums, updates.
  void run();

  // For the gradient rules. Every emit invalidates references into the graph, so op() returns a copy.
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] GraphOp op(OpId id) const { return graph_.ops[id.index()]; }
  [[nodiscard]] Shape shape_of(const Operand& operand) const;
  [[nodiscard]] DType dtype_of(const Operand& operand) const;
  // If the tensor's value is that of a parameter (a file's Variable or a read of it), that parameter; else the operand
  // itself.
  [[nodiscard]] Operand behind(const Operand& operand) const;
  // Whether the op's input depends on a trainable parameter, so that its gradient is needed.
  [[nodiscard]] bool wants(const GraphOp& op, std::size_t input) const;
  // The gradient of an output; none if the objective does not depend on it.
  [[nodiscard]] Operand output_gradient(const GraphOp& op, std::size_t output = 0) const;

  using Attributes = std::map<std::string, Attribute>;
  // Adds one backward op of `forward` with one output of the given shape and dtype.
  Operand emit(OpId forward, std::string type, std::vector<Operand> inputs, const Shape& shape, DType dtype,
               Attributes attributes = {});
  Operand emit_like(OpId forward, std::string type, std::vector<Operand> inputs, const Operand& like,
                    Attributes attributes = {});
  // Adds one backward op with an output of the shape and dtype of each of `likes`.
  std::vector<Operand> emit_several(OpId forward, std::string type, std::vector<Operand> inputs,
                                    const std::vector<Operand>& likes, Attributes attributes = {});
  // Undoes broadcasting: adds a ReduceSum to the shape of `like`, or returns the gradient itself if the shapes are
  // equal.
  Operand unbroadcast(OpId forward, const Operand& gradient, const Operand& like);

  void contribute(const Operand& to, const Operand& gradient);
  // Adds the gradient of some rows of a parameter; it stays sparse if it is the only contribution.
  void contribute_rows(OpId forward, const Operand& parameter, const Operand& rows, const Operand& indices);

 private:
  struct Rows {
    OpId forward;
    Operand rows, indices;
  };

  void find_variables(const std::vector<OpId>& order);
  void find_wanted(const std::vector<OpId>& order);
  void seed_outputs(const std::vector<OpId>& order);
  Operand add_up(OpId forward, const std::vector<Operand>& gradients, const Operand& like, const std::string& name);
  OpId add(OpId forward, std::string name, std::string type, std::vector<Operand> inputs, Attributes attributes,
           Phase phase);
  void add_update(ParameterId id);
  std::string next_name(OpId forward);

  Graph& graph_;
  const TrainingOptions& options_;
  std::string mark_;  // underscores before the prefixes of new names, to differ from all names of the forward graph
  std::size_t forward_ops_, forward_tensors_;
  std::vector<Operand> behind_;  // per forward tensor: the parameter whose value it is
  std::vector<OpId> variable_;   // per parameter: the file's Variable or VarHandleOp that holds it
  std::vector<char> tensor_wanted_, parameter_wanted_;
  std::vector<std::vector<Operand>> tensor_gradients_, parameter_gradients_;  // contributions
  std::vector<std::vector<Rows>> parameter_rows_;
  std::vector<std::uint32_t> emitted_;  // per forward op: number of backward ops so far
};

}  // namespace emplace
