// Puts functions in the place of the nodes that call them, as TensorFlow does before it runs a graph.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/tensorflow/function.hpp"
#include "formats/tensorflow/graph.hpp"

namespace emplace::formats {

// A node "f" that calls a function becomes the function's nodes, called "f/...". Of If both branches become nodes,
// joined by a Merge, and of While the condition and the body, once, as in graphs of TensorFlow 1.
class TfCalls {
 public:
  // Keeps references to all arguments.
  TfCalls(const std::string& file, const TfLibrary& library, GraphFromTensorflow& graph)
      : file_(file), library_(library), graph_(graph) {}

  // Adds the node, or what it calls. InputError for functions that are missing, call themselves, are nested too deeply
  // or become too many nodes, and for ops that call functions in other ways (Case).
  void add(TfNode node);

  // Says in a warning how many loops are costed as one iteration.
  void warn() const;

 private:
  struct Caller {
    const TfNode& node;
    std::vector<std::string> inputs, controls;
  };

  [[nodiscard]] std::string place(const TfNode& node) const;
  [[nodiscard]] const TfFunction& function_of(const TfNode& node, std::string_view attribute) const;
  // Adds the function's nodes, called "prefix/...".
  TfCall put_in(const TfFunction& function, const Caller& caller, const std::string& prefix);
  void add_if(const TfNode& node);
  void add_while(const TfNode& node);

  const std::string& file_;
  const TfLibrary& library_;
  GraphFromTensorflow& graph_;
  std::vector<const TfFunction*> open_;  // the functions that are being put in
  std::size_t nodes_ = 0, loops_ = 0;
};

}  // namespace emplace::formats
