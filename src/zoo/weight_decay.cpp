#include "emplace/base/error.hpp"
#include "zoo/model_builder.hpp"

namespace emplace::zoo {

// Adds the same ops as TensorFlow 1.x: contrib.layers.l2_regularizer makes a scaled L2Loss of each weight, and these
// losses are added to the model's loss.
void ModelBuilder::add_weight_decay() {
  const Operand loss = Operand::of(graph_.ops.back().outputs.front());
  EMPLACE_CHECK(shape(loss) == Shape::scalar(), "the last op of {} is no loss", graph_.name);
  const std::string last_layer = layer_;
  const Operand rate = input("weight_decay", Shape::scalar());
  std::vector<Operand> losses{loss};
  for (std::size_t i = 0; i < graph_.parameters.size(); ++i) {
    const GraphParameter& weight = graph_.parameters[i];
    if (!weight.trainable || weight.shape.dims.size() < 2) continue;
    const std::string name = weight.name + "/decay";
    const std::size_t user = weight.users.front().index();
    layer_ = graph_.ops[user].layer;
    open_cell_ = cells_.of_op[user];
    const Operand norm = op(name + "/norm", "L2Loss", {Operand::of(ParameterId{i})}, Shape::scalar());
    losses.push_back(elementwise(name, "Mul", {norm, rate}));
  }
  layer_ = last_layer;
  open_cell_ = Cells::none;
  op("total_loss", "Sum", losses, Shape::scalar());
}

}  // namespace emplace::zoo
