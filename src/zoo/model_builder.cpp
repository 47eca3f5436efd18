#include "zoo/model_builder.hpp"

#include <fmt/core.h>

#include "emplace/base/error.hpp"
#include "graph/passes/passes.hpp"
#include "zoo/detail.hpp"

namespace emplace::zoo {

namespace {
// A training step at detail = "framework" has about eight times as many ops, which take several gigabytes.
constexpr std::size_t most_ops = 500000;
}  // namespace

ModelBuilder::OpenCell::OpenCell(ModelBuilder& model, std::string name)
    : model_(model), outermost_(model.open_cell_ == Cells::none) {
  if (!outermost_) return;
  model.open_cell_ = static_cast<std::uint32_t>(model.cells_.names.size());
  model.cells_.names.push_back(std::move(name));
}

ModelBuilder::OpenCell::~OpenCell() {
  if (outermost_) model_.open_cell_ = Cells::none;
}

Operand ModelBuilder::input(const std::string& name, Shape shape, DType dtype) {
  return Operand::of(graph_.add_input(name, dtype, std::move(shape)));
}

Operand ModelBuilder::parameter(const std::string& name, Shape shape, bool trainable) {
  return Operand::of(graph_.add_parameter(name, DType::f32, std::move(shape), trainable));
}

std::vector<Operand> ModelBuilder::op_several(const std::string& name, const std::string& type,
                                              std::vector<Operand> inputs, const std::vector<Shape>& shapes,
                                              Attributes attributes) {
  if (graph_.ops.size() == most_ops)
    throw InputError("zoo:" + graph_.name, "the model has more than {} ops; choose fewer layers or a shorter sequence",
                     most_ops);
  GraphOp op;
  op.name = name;
  op.type = type;
  op.attributes = std::move(attributes);
  op.inputs = std::move(inputs);
  op.layer = layer_;
  const OpId id = graph_.add_op(std::move(op));
  cells_.of_op.push_back(open_cell_);
  std::vector<Operand> outputs;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    outputs.push_back(
        Operand::of(graph_.add_output(id, i == 0 ? name : fmt::format("{}:{}", name, i), DType::f32, shapes[i])));
  return outputs;
}

Operand ModelBuilder::op(const std::string& name, const std::string& type, std::vector<Operand> inputs, Shape shape,
                         Attributes attributes) {
  return op_several(name, type, std::move(inputs), {std::move(shape)}, std::move(attributes)).front();
}

Operand ModelBuilder::elementwise(const std::string& name, const std::string& type, std::vector<Operand> inputs) {
  Shape same = shape(inputs[0]);
  return op(name, type, std::move(inputs), std::move(same));
}

Operand ModelBuilder::concat(const std::string& name, std::vector<Operand> inputs, std::int64_t axis) {
  Shape sum = shape(inputs[0]);
  auto& size = sum.dims[static_cast<std::size_t>(axis)];
  size = 0;
  for (const Operand& input : inputs) size += dim(input, static_cast<std::size_t>(axis));
  return op(name, "Concat", std::move(inputs), std::move(sum), {{"axis", axis}});
}

const Shape& ModelBuilder::shape(const Operand& operand) const {
  EMPLACE_CHECK(operand.kind != Operand::Kind::none);
  return operand.is_tensor() ? graph_.tensors[operand.index].shape : graph_.parameters[operand.index].shape;
}

void describe_images(ImageOptions& o, OptionVisitor& visit, double smallest_image) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "images", .help = "Images in a step."});
  visit("image", o.image,
        {.min = smallest_image, .max = 8192, .unit = "pixels", .help = "Height and width of an image."});
  visit("classes", o.classes, {.min = 2, .max = 1000000, .help = "Outputs of the classifier."});
}

void describe(StepOptions& options, OptionVisitor& visit) {
  visit("training", options.training, {.help = "Adds the backward pass and the updates of a training step."});
  visit("detail", options.detail,
        {.choices = {"layer", "op", "framework"},
         .help = "One op for each layer, one for each kernel, or all ops of a TensorFlow 1.x graph with its constants "
                 "and variables."});
  visit(
      "optimizer", options.optimizer,
      {.choices = {"sgd", "momentum", "adam"}, .help = "Optimiser of the training step; decides the state in memory."});
  visit("weight_decay", options.weight_decay,
        {.help = "Adds the squared norms of all matrices and filters to the objective of the training step."});
}

Graph finish(ModelBuilder& model, const StepOptions& options) {
  if (options.weight_decay) {
    if (!options.training)
      throw InputError("zoo:" + model.name(), "weight_decay belongs to a training step; it needs training=true");
    model.add_weight_decay();
  }
  Graph graph = model.take();
  if (options.training) graph = expand_training(graph, {.optimizer = options.optimizer}).graph;
  if (options.detail == "layer") return merge_cells(graph, model.cells()).graph;
  if (options.detail == "framework") return add_framework_ops(graph).graph;
  return graph;
}

}  // namespace emplace::zoo
