#include "zoo/cell_network.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "emplace/base/error.hpp"

namespace emplace::zoo {

namespace {

class Builder {
 public:
  Builder(const CellNetwork& network, const CellNetworkOptions& options)
      : network_(network), o_(options), model_(network.name) {}

  Graph build() {
    model_.set_layer("stem");
    const Operand image = model_.input("image", {o_.batch, 3, o_.image, o_.image});
    outputs_ = {Operand::none(), conv_bn("stem", image, network_.stem_filters, {3, 3, 2})};
    // The stem cells have a quarter and a half of the filters (section 3.1 and the released code).
    reduce("cell_stem_0", o_.filters / 4);
    reduce("cell_stem_1", o_.filters / 2);
    std::int64_t filters = o_.filters;
    for (std::int64_t i = 0; i < o_.layers; ++i) {
      Operand previous = before_last();
      if (i != 0 && (i == o_.layers / 3 || i == 2 * o_.layers / 3)) {
        filters *= 2;
        reduce(fmt::format("reduction_{}", i == o_.layers / 3 ? 0 : 1), filters);
        if (!network_.skips_reduction) previous = before_last();
      }
      outputs_.push_back(cell(fmt::format("cell_{}", i), network_.normal, filters, 1, previous));
    }
    classify();
    return finish(model_, o_.step);
  }

 private:
  [[nodiscard]] Operand before_last() const { return outputs_[outputs_.size() - 2]; }
  void reduce(const std::string& name, std::int64_t filters) {
    outputs_.push_back(cell(name, network_.reduction, filters, 2, before_last()));
  }

  Operand relu(const std::string& name, const Operand& x) { return model_.elementwise(name, "Relu", {x}); }
  Operand conv_bn(const std::string& name, const Operand& x, std::int64_t channels, const Window& window) {
    const auto part = model_.cell(name);
    return batch_norm(model_, name + "/bn", conv(model_, name + "/conv", x, channels, window));
  }
  Operand relu_conv_bn(const std::string& name, const Operand& x, std::int64_t channels, const Window& window) {
    const auto part = model_.cell(name);
    return conv_bn(name, relu(name + "/relu", x), channels, window);
  }

  // Halves height and width without losing the points that a stride would skip: two strided 1 x 1 convolutions, one of
  // them shifted by a point.
  Operand factorized_reduction(const std::string& name, const Operand& x, std::int64_t filters) {
    const Shape shape = model_.shape(x);
    const Window skip{1, 1, 2};
    const Operand a =
        conv(model_, name + "/path1", pool(model_, name + "/pool1", "AveragePool", x, skip), filters / 2, {});
    const Operand padded =
        model_.op(name + "/pad", "Pad", {x}, {shape.dims[0], shape.dims[1], shape.dims[2] + 1, shape.dims[3] + 1});
    const Operand shifted = model_.op(name + "/shift", "Slice", {padded}, shape);
    const Operand b = conv(model_, name + "/path2", pool(model_, name + "/pool2", "AveragePool", shifted, skip),
                           filters - filters / 2, {});
    return batch_norm(model_, name + "/bn", model_.concat(name + "/concat", {a, b}, 1));
  }

  // Gives the second input the size and the filters of the first.
  Operand fit_previous(const std::string& name, const Operand& previous, const Operand& current, std::int64_t filters) {
    if (previous.kind == Operand::Kind::none) return current;
    const auto part = model_.cell(name);
    if (model_.dim(previous, 2) != model_.dim(current, 2))
      return factorized_reduction(name, relu(name + "/relu", previous), filters);
    if (model_.dim(previous, 1) != filters) return relu_conv_bn(name, previous, filters, {});
    return previous;
  }

  // (ReLU, depthwise, pointwise, normalisation) twice; only the first has the stride.
  Operand separable(const std::string& name, Operand x, std::int64_t size, std::int64_t filters, std::int64_t stride) {
    for (int i = 1; i <= 2; ++i) {
      const std::string part = fmt::format("{}/{}", name, i);
      x = depthwise_conv(model_, part + "/depthwise", relu(part + "/relu", x), same(size, i == 1 ? stride : 1));
      x = conv_bn(part, x, filters, {});
    }
    return x;
  }

  // A convolution between two 1 x 1 convolutions, which reduce to a quarter of the filters and restore their number.
  Operand bottleneck(const std::string& name, Operand x, std::string_view kind, std::int64_t filters,
                     std::int64_t stride) {
    const std::int64_t narrow = std::max<std::int64_t>(1, filters / 4);
    x = relu(name + "/relu", relu_conv_bn(name + "/pre", x, narrow, {}));
    if (kind == "3x3") {
      x = conv_bn(name + "/3x3", x, narrow, same(3, stride));
    } else {
      x = conv_bn(name + "/1x7", x, narrow, {.width = 7, .padding = Padding::same, .stride_width = stride});
      x = relu(name + "/relu_7x1", x);
      x = conv_bn(name + "/7x1", x, narrow,
                  {.height = 7, .stride = stride, .padding = Padding::same, .stride_width = 1});
    }
    return relu_conv_bn(name + "/post", x, filters, {});
  }

  Operand operation(const std::string& name, std::string_view kind, const Operand& x, std::int64_t filters,
                    std::int64_t stride) {
    const auto part = model_.cell(name);
    const bool same_filters = model_.dim(x, 1) == filters;
    if (kind.starts_with("separable_")) return separable(name, x, kind[10] - '0', filters, stride);
    if (kind == "3x3" || kind == "1x7_7x1") return bottleneck(name, x, kind, filters, stride);
    if (kind == "1x1" || kind == "none")
      return kind == "none" && stride == 1 && same_filters ? x : relu_conv_bn(name, x, filters, {1, 1, stride});
    EMPLACE_CHECK(kind.starts_with("avg_pool_") || kind.starts_with("max_pool_"), "unknown operation {}", kind);
    const char* type = kind.starts_with("avg") ? "AveragePool" : "MaxPool";
    const Operand pooled = pool(model_, name + "/pool", type, x, same(kind[9] - '0', stride));
    return same_filters ? pooled : conv_bn(name, pooled, filters, {});
  }

  Operand cell(const std::string& name, const CellPlan& plan, std::int64_t filters, std::int64_t stride,
               const Operand& previous) {
    model_.set_layer(name);
    const Operand current = outputs_.back();
    const Operand second = fit_previous(name + "/previous", previous, current, filters);
    std::vector<Operand> states{relu_conv_bn(name + "/begin", current, filters, {}), second};
    for (std::size_t i = 0; i < plan.operations.size(); i += 2) {
      const std::string block = fmt::format("{}/block{}", name, i / 2);
      Operand sides[2];
      for (std::size_t side = 0; side < 2; ++side) {
        const int input = plan.inputs[i + side];
        // Only the two inputs of the cell still have the larger size.
        sides[side] = operation(block + (side == 0 ? "/left" : "/right"), plan.operations[i + side],
                                states[static_cast<std::size_t>(input)], filters, input < 2 ? stride : 1);
      }
      states.push_back(model_.elementwise(block + "/add", "Add", {sides[0], sides[1]}));
    }
    std::vector<Operand> loose;
    for (std::size_t i = 0; i < states.size(); ++i)
      if (!plan.used[i]) loose.push_back(fit_state(fmt::format("{}/fit{}", name, i), states[i], states.back()));
    return model_.concat(name + "/concat", loose, 1);
  }

  // Gives an input of the cell that is concatenated to its output the output's size.
  Operand fit_state(const std::string& name, const Operand& state, const Operand& last) {
    const auto part = model_.cell(name);
    if (model_.dim(state, 2) != model_.dim(last, 2)) return factorized_reduction(name, state, model_.dim(last, 1));
    return model_.dim(state, 1) == model_.dim(last, 1) ? state : conv_bn(name, state, model_.dim(last, 1), {});
  }

  void classify() {
    model_.set_layer("classifier");
    const auto part = model_.cell("classifier");
    Operand x = global_average(model_, "pool", relu("classifier/relu", outputs_.back()));
    x = dropout(model_, "dropout", x, o_.step.training);
    softmax_or_loss(model_, "softmax", dense(model_, "logits", x, o_.classes), "labels", o_.step.training);
  }

  const CellNetwork& network_;
  CellNetworkOptions o_;
  ModelBuilder model_;
  std::vector<Operand> outputs_;  // an absent operand, then the outputs of the stem and of all cells
};

}  // namespace

void describe_cell_network(CellNetworkOptions& o, OptionVisitor& visit) {
  describe_images(o, visit, 75);
  visit("layers", o.layers, {.min = 3, .max = 1024, .help = "Normal cells, in three stacks."});
  visit("filters", o.filters,
        {.min = 16, .max = 65536, .unit = "channels", .help = "Filters of the first stack's cells."});
  describe(o.step, visit);
}

Graph build_cell_network(const CellNetwork& network, const CellNetworkOptions& options) {
  return Builder(network, options).build();
}

}  // namespace emplace::zoo
