// What the models are written with: ops that name their outputs after themselves, a current layer, and the layers that
// several models share. Shapes are worked out here, once.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/graph/graph.hpp"

namespace emplace {

using Attributes = std::map<std::string, Attribute>;

class ModelBuilder {
 public:
  explicit ModelBuilder(std::string name) { graph_.name = std::move(name); }

  // Every op from now on belongs to this layer of the human-expert placement.
  void set_layer(std::string layer) { layer_ = std::move(layer); }

  Operand input(const std::string& name, Shape shape, DType dtype = DType::f32);
  Operand parameter(const std::string& name, Shape shape, bool trainable = true);
  Operand op(const std::string& name, const std::string& type, std::vector<Operand> inputs, Shape shape,
             Attributes attributes = {});
  std::vector<Operand> op_several(const std::string& name, const std::string& type, std::vector<Operand> inputs,
                                  const std::vector<Shape>& shapes, Attributes attributes = {});
  // Same shape as the first operand.
  Operand elementwise(const std::string& name, const std::string& type, std::vector<Operand> inputs);
  // Operands of rows x columns side by side.
  Operand concat(const std::string& name, std::vector<Operand> inputs, std::int64_t axis);

  [[nodiscard]] const Shape& shape(const Operand& operand) const;
  [[nodiscard]] std::int64_t dim(const Operand& operand, std::size_t position) const {
    return shape(operand).dims[position];
  }
  Graph take() { return std::move(graph_); }

 private:
  Graph graph_;
  std::string layer_;
};

struct Window {
  std::int64_t height = 1, width = 1, stride = 1, pad_height = 0, pad_width = 0;
};

// Images are batch x channels x height x width.
Operand conv(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t channels,
             const Window& window);
Operand batch_norm(ModelBuilder& model, const std::string& name, const Operand& x);
// type: MaxPool or AveragePool.
Operand pool(ModelBuilder& model, const std::string& name, const std::string& type, const Operand& x,
             const Window& window);
// rows x inputs -> rows x outputs. `weight` (inputs x outputs) and `bias` are parameters of the caller; bias may be
// none.
Operand linear(ModelBuilder& model, const std::string& name, const Operand& x, const Operand& weight,
               const Operand& bias);
// The last op of a classifier: Softmax for inference, the loss against `labels` for training.
Operand softmax_or_loss(ModelBuilder& model, const std::string& name, const Operand& logits, const std::string& labels,
                        bool training);

// An LSTM's weights, shared by all time steps: (inputs + hidden) x 4 hidden, and 4 hidden.
struct LstmWeights {
  Operand weight, bias;
};
LstmWeights lstm_weights(ModelBuilder& model, const std::string& name, std::int64_t inputs, std::int64_t hidden);
struct LstmState {
  Operand hidden, cell;  // batch x hidden
};
// One time step as separate ops: [x, h] W + b split into the gates i, f, o, g (TF's BasicLSTMCell).
LstmState lstm_cell(ModelBuilder& model, const std::string& name, const LstmWeights& weights, const Operand& x,
                    const LstmState& state);

// Options that every model has.
struct StepOptions {
  bool training = false;
  std::string optimizer = "sgd";
};
void describe(StepOptions& options, OptionVisitor& visit);
// The forward graph as it is, or with its training step.
Graph finish(ModelBuilder& model, const StepOptions& options);

}  // namespace emplace
