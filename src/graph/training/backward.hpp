// Reverse-mode differentiation of a graph: collects the gradients of tensors and parameters while gradient rules emit
// backward ops in reverse topological order.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emplace/graph/passes.hpp"

namespace emplace {

class Backward {
 public:
  // `graph` is the forward graph; backward ops are appended to it.
  Backward(Graph& graph, const TrainingOptions& options);

  // Emits everything: gradients of the model's outputs, backward ops, sums, updates.
  void run();

  // For the rules. References into the graph do not survive an emit: rules take copies.
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] GraphOp op(OpId id) const { return graph_.ops[id.index()]; }
  [[nodiscard]] Shape shape_of(const Operand& operand) const;
  [[nodiscard]] DType dtype_of(const Operand& operand) const;
  // The parameter whose value a tensor is (what a file's Variable holds, and reads of it); else the operand itself.
  [[nodiscard]] Operand behind(const Operand& operand) const;
  // Does a trainable parameter lie behind it?
  [[nodiscard]] bool wants(const GraphOp& op, std::size_t input) const;
  // The gradient of an output; none if nothing that counts depends on it.
  [[nodiscard]] Operand output_gradient(const GraphOp& op, std::size_t output = 0) const;

  using Attributes = std::map<std::string, Attribute>;
  // One backward op of `forward` with one output of the given size.
  Operand emit(OpId forward, std::string type, std::vector<Operand> inputs, const Shape& shape, DType dtype,
               Attributes attributes = {});
  Operand emit_like(OpId forward, std::string type, std::vector<Operand> inputs, const Operand& like,
                    Attributes attributes = {});
  // One backward op with one output like each of `likes`.
  std::vector<Operand> emit_several(OpId forward, std::string type, std::vector<Operand> inputs,
                                    const std::vector<Operand>& likes, Attributes attributes = {});
  // Undoes broadcasting: a ReduceSum down to the size of `like`, or the gradient itself where sizes agree.
  Operand unbroadcast(OpId forward, const Operand& gradient, const Operand& like);

  void contribute(const Operand& to, const Operand& gradient);
  // The gradient of some rows of a parameter; stays sparse if it is the only contribution.
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
  std::string mark_;  // makes the prefixes of new names differ from all names of the forward graph
  std::size_t forward_ops_, forward_tensors_;
  std::vector<Operand> behind_;  // per forward tensor: the parameter whose value it is
  std::vector<OpId> variable_;   // per parameter: the file's op that holds it
  std::vector<char> tensor_wanted_, parameter_wanted_;
  std::vector<std::vector<Operand>> tensor_gradients_, parameter_gradients_;  // contributions
  std::vector<std::vector<Rows>> parameter_rows_;
  std::vector<std::uint32_t> emitted_;  // per forward op: backward ops so far
};

}  // namespace emplace
