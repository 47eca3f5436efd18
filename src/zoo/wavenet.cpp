// WaveNet (van den Oord et al. 2016, sections 2.1 to 2.4): dilated causal convolutions of width 2 whose dilations
// double from 1 to 512 and start again, gated units, residual and skip connections, and a softmax over 256 levels for
// each sample. GDP and GO place 2 stacks of 18 layers and 4 stacks of 36 and state no widths, nor does the paper. Here
// skip connections are as wide as residual ones, and there are no biases.
#include <fmt/core.h>

#include "zoo/model_builder.hpp"
#include "zoo/models.hpp"

namespace emplace::zoo {

namespace {

struct WavenetOptions {
  std::int64_t batch = 8;
  std::int64_t stacks = 2;
  std::int64_t layers = 18;
  std::int64_t hidden = 128;
  std::int64_t sequence = 8000;
  StepOptions step;
};

void describe(WavenetOptions& o, OptionVisitor& visit) {
  visit("batch", o.batch, {.min = 1, .max = 65536, .unit = "sequences", .help = "Sequences in a step."});
  visit("stacks", o.stacks, {.min = 1, .max = 64, .help = "Stacks of layers, one after the other."});
  visit("layers", o.layers, {.min = 1, .max = 1024, .help = "Layers of a stack."});
  visit("hidden", o.hidden, {.min = 1, .max = 65536, .unit = "channels", .help = "Residual and skip channels."});
  visit("sequence", o.sequence, {.min = 2, .max = 10000000, .unit = "samples", .help = "Length of a sequence."});
  describe(o.step, visit);
}

constexpr std::int64_t levels = 256;
constexpr int dilations = 10;  // 1, 2, ..., 512

class Wavenet {
 public:
  explicit Wavenet(const WavenetOptions& options) : o_(options), model_("wavenet") {}

  Graph build() {
    model_.set_layer("input");
    const Operand samples = model_.input("samples", {o_.batch, 1, o_.sequence}, DType::i32);
    const Operand one_hot = model_.op("input/one_hot", "OneHot", {samples}, {o_.batch, levels, 1, o_.sequence},
                                      {{"axis", std::int64_t{1}}});
    Operand x = conv(model_, "input/conv", one_hot, o_.hidden, causal(1));
    for (std::int64_t stack = 0; stack < o_.stacks; ++stack)
      for (std::int64_t i = 0; i < o_.layers; ++i) {
        const std::string name = fmt::format("stack{}/layer{}", stack, i);
        model_.set_layer(name);
        x = layer(name, x, std::int64_t{1} << (i % dilations));
      }
    model_.set_layer("softmax");
    output();
    return finish(model_, o_.step);
  }

 private:
  static Window causal(std::int64_t dilation) { return {.width = 2, .padding = Padding::causal, .dilation = dilation}; }

  // Equation 2: tanh(filter * x) sigmoid(gate * x); then the skip and the residual connection (figure 4). The residual
  // of the last layer is not used.
  Operand layer(const std::string& name, const Operand& x, std::int64_t dilation) {
    const auto cell = model_.cell(name);
    const Operand filter =
        model_.elementwise(name + "/tanh", "Tanh", {conv(model_, name + "/filter", x, o_.hidden, causal(dilation))});
    const Operand gate = model_.elementwise(name + "/sigmoid", "Sigmoid",
                                            {conv(model_, name + "/gate", x, o_.hidden, causal(dilation))});
    const Operand z = model_.elementwise(name + "/gated", "Mul", {filter, gate});
    const Operand skip = conv(model_, name + "/skip", z, o_.hidden, {});
    skips_ = skips_.kind == Operand::Kind::none ? skip : model_.elementwise(name + "/skips", "Add", {skips_, skip});
    if (++built_ == o_.stacks * o_.layers) return z;
    return model_.elementwise(name + "/residual", "Add", {x, conv(model_, name + "/out", z, o_.hidden, {})});
  }

  void output() {
    const auto cell = model_.cell("softmax");
    Operand x = model_.elementwise("softmax/relu1", "Relu", {skips_});
    x = conv(model_, "softmax/conv1", x, o_.hidden, {});
    x = conv(model_, "softmax/conv2", model_.elementwise("softmax/relu2", "Relu", {x}), levels, {});
    const Operand last = model_.op("softmax/by_sample", "Transpose", {x}, {o_.batch, 1, o_.sequence, levels},
                                   {{"perm", std::vector<std::int64_t>{0, 2, 3, 1}}});
    const Operand rows = model_.op("softmax/rows", "Reshape", {last}, {o_.batch * o_.sequence, levels});
    softmax_or_loss(model_, "softmax", rows, "labels", o_.step.training);
  }

  WavenetOptions o_;
  ModelBuilder model_;
  Operand skips_;  // the sum so far
  std::int64_t built_ = 0;
};

}  // namespace

ZooEntry wavenet_entry() {
  ZooEntry entry;
  entry.name = "wavenet";
  entry.summary = "WaveNet: stacks of dilated causal convolutions with gates and skip connections.";
  entry.reference = "van den Oord et al. 2016; as in Zhou et al. 2019, 2020";
  entry.options = list_options<WavenetOptions>;
  entry.expert = expert_in_parts;
  entry.build = [](const ConfigTable& table) { return Wavenet(read_options<WavenetOptions>(table)).build(); };
  return entry;
}

}  // namespace emplace::zoo
