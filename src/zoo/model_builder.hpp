// Functions with which all models are built: ops whose outputs have the op's name, a current layer (GraphOp::layer),
// and the neural-network layers that several models share. The shapes of all outputs are computed here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "emplace/base/options.hpp"
#include "emplace/graph/graph.hpp"

namespace emplace::zoo {

using Attributes = std::map<std::string, Attribute>;

// The ops that become one op at detail = "layer": for each op of the forward graph its cell, or `none`.
struct Cells {
  static constexpr std::uint32_t none = 0xffffffff;
  std::vector<std::string> names;
  std::vector<std::uint32_t> of_op;
};

class ModelBuilder {
 public:
  explicit ModelBuilder(std::string name) { graph_.name = std::move(name); }

  // Sets the layer of the human-expert placement for all ops that are added from now on.
  void set_layer(std::string layer) { layer_ = std::move(layer); }

  // All ops that are added during its lifetime form one cell (a convolution with its normalisation and activation, a
  // step of an LSTM). Of nested cells only the outermost counts. A path must not leave a cell and come back to it.
  class OpenCell {
   public:
    OpenCell(ModelBuilder& model, std::string name);
    ~OpenCell();
    OpenCell(const OpenCell&) = delete;
    OpenCell& operator=(const OpenCell&) = delete;

   private:
    ModelBuilder& model_;
    bool outermost_;
  };
  [[nodiscard]] OpenCell cell(std::string name) { return {*this, std::move(name)}; }

  Operand input(const std::string& name, Shape shape, DType dtype = DType::f32);
  Operand parameter(const std::string& name, Shape shape, bool trainable = true);
  Operand op(const std::string& name, const std::string& type, std::vector<Operand> inputs, Shape shape,
             Attributes attributes = {});
  std::vector<Operand> op_several(const std::string& name, const std::string& type, std::vector<Operand> inputs,
                                  const std::vector<Shape>& shapes, Attributes attributes = {});
  // An op whose output has the shape of the first operand.
  Operand elementwise(const std::string& name, const std::string& type, std::vector<Operand> inputs);
  // Concatenates operands of rows x columns along `axis`.
  Operand concat(const std::string& name, std::vector<Operand> inputs, std::int64_t axis);

  [[nodiscard]] const Shape& shape(const Operand& operand) const;
  [[nodiscard]] std::int64_t dim(const Operand& operand, std::size_t position) const {
    return shape(operand).dims[position];
  }
  // Adds the L2 losses of all matrices and filters to the objective, which is the first output of the last op. The loss
  // of a weight is in the cell of the first op that uses the weight.
  void add_weight_decay();

  Graph take() { return std::move(graph_); }
  [[nodiscard]] const Cells& cells() const { return cells_; }
  [[nodiscard]] const std::string& name() const { return graph_.name; }

 private:
  Graph graph_;
  std::string layer_;
  Cells cells_;
  std::uint32_t open_cell_ = Cells::none;
};

// `given`: the pads of Window, on both sides. `same`: TensorFlow's SAME, the output has ceil(size / stride) points.
// `causal`: padding before the first column only, so that an output depends on no later column (van den Oord et al.
// 2016).
enum class Padding : std::uint8_t { given, same, causal };
struct Window {
  std::int64_t height = 1, width = 1, stride = 1, pad_height = 0, pad_width = 0;
  Padding padding = Padding::given;
  std::int64_t dilation = 1;
  std::int64_t stride_width = 0;  // 0: as `stride`
};
Window same(std::int64_t size, std::int64_t stride = 1);

// Images are batch x channels x height x width.
Operand conv(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t channels,
             const Window& window);
// A convolution with one filter for each channel.
Operand depthwise_conv(ModelBuilder& model, const std::string& name, const Operand& x, const Window& window);
// `fused`: whether it is also one kernel in TensorFlow 1.x, which matters at detail = "framework".
Operand batch_norm(ModelBuilder& model, const std::string& name, const Operand& x, bool fused = true);
// name/conv, name/bn, name/relu: one cell.
Operand conv_bn_relu(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t channels,
                     const Window& window, bool fused = true);
// type: MaxPool or AveragePool.
Operand pool(ModelBuilder& model, const std::string& name, const std::string& type, const Operand& x,
             const Window& window);
// rows x inputs -> rows x outputs. `weight` (inputs x outputs) and `bias` are parameters of the caller; bias may be
// none.
Operand linear(ModelBuilder& model, const std::string& name, const Operand& x, const Operand& weight,
               const Operand& bias);
// The same with new parameters, name/weight and name/bias.
Operand dense(ModelBuilder& model, const std::string& name, const Operand& x, std::int64_t outputs, bool bias = true);
// Returns x itself unless `training` is true; the mask is a second output.
Operand dropout(ModelBuilder& model, const std::string& name, const Operand& x, bool training);
// batch x channels x height x width -> batch x channels.
Operand global_average(ModelBuilder& model, const std::string& name, const Operand& image);
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

// Options of every classifier of images.
struct ImageOptions {
  std::int64_t batch = 32;
  std::int64_t image = 224;
  std::int64_t classes = 1000;
};
void describe_images(ImageOptions& options, OptionVisitor& visit, double smallest_image);

// Options that every model has.
struct StepOptions {
  bool training = false;
  std::string detail = "op";
  std::string optimizer = "sgd";
  bool weight_decay = false;
};
void describe(StepOptions& options, OptionVisitor& visit);
// Returns the forward graph, with a training step if options.training, at the level of detail in `options`
// (detail.hpp).
Graph finish(ModelBuilder& model, const StepOptions& options);

}  // namespace emplace::zoo
