#include "language/language_graph.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "emplace/base/error.hpp"
#include "language/step_builder.hpp"

namespace emplace::language {

namespace {

constexpr std::size_t most_layers = 4096;

const Weight* embedding_of(const LanguageModel& model) {
  const auto found = std::ranges::find(model.input, "token_embd.weight", &Weight::name);
  return found == model.input.end() ? nullptr : &*found;
}

// A row of each table for each token.
Operand add_input(StepBuilder& step) {
  step.begin("input", "input", "", step.model.input);
  const Operand tokens = Operand::of(step.graph.add_input("tokens", DType::i32, {step.tokens}));
  std::vector<Operand> rows;
  for (const Weight& weight : step.model.input) {
    if (weight.sizes.size() < 2) {
      rows.push_back(step.take(weight));
      continue;
    }
    const std::string name = weight.name.substr(0, weight.name.rfind('.'));
    const std::int64_t columns = weight.columns();
    rows.push_back(step.add(name, "Gather", {step.take(weight), tokens}, {step.tokens, columns}));
  }
  return rows.size() == 1 ? rows[0] : step.add("embd_sum", "Sum", std::move(rows), {step.tokens, step.model.hidden});
}

// At prefill only the last token of the prompt has an output: as in llama.cpp, it alone passes what comes after the
// last layer's attention.
Operand last_token(StepBuilder& step, const Operand& x) {
  if (step.scenario.phase == Phase::decode || step.tokens == 1) return x;
  step.tokens = 1;
  return step.add("last_token", "aten.slice", {x}, {1, step.model.hidden});
}

void add_output(StepBuilder& step, Operand x) {
  step.begin("output", "output", "", step.model.output);
  x = step.norm("output_norm", x);
  std::vector<Operand> operands = {x};
  // What is beside the matrix of the vocabulary, such as its bias, is an operand of its product. A tied one has none.
  const auto is_rest = [&](const Weight& weight) {
    return step.model.is_tied() || weight.name.substr(0, weight.name.rfind('.')) != "output";
  };
  for (const Operand& each : step.rest(x, is_rest)) operands.push_back(each);
  if (operands.size() > 1) x = step.add("output_rest", "Sum", std::move(operands), step.sizes_of(x));
  if (step.model.is_tied()) {
    Weight copy = *embedding_of(step.model);
    copy.name = "output.weight";
    step.begin("output", "output", "", {&copy, 1});
    x = step.product("output", x);
    const GraphOp& op = step.graph.ops.back();
    step.graph.parameters[op.inputs[1].index].folded = true;  // no parameter of the model's own
  } else {
    x = step.product("output", x);
  }
  if (step.model.caps_logits()) step.add("output_cap", "ggml.tanh", {x}, step.sizes_of(x));
}

Bytes bytes_in(const std::vector<Weight>& weights) {
  Bytes sum = 0;
  for (const Weight& weight : weights) sum += weight.bytes;
  return sum;
}

}  // namespace

std::string unit_name(std::int64_t layer, Part part) {
  const char* names[] = {"attention", "feed_forward", "experts"};
  return fmt::format("blk.{}.{}", layer, names[static_cast<std::size_t>(part)]);
}

Bytes copied_bytes(const LanguageModel& model) {
  const Weight* embedding = embedding_of(model);
  return model.is_tied() && embedding != nullptr ? embedding->bytes : 0;
}

std::vector<Unit> units_of(const LanguageModel& model, const Scenario& scenario) {
  std::vector<Unit> units;
  units.push_back({"input", -1, std::nullopt, bytes_in(model.input), 0});
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    const auto number = static_cast<std::int64_t>(i);
    for (const Part part : {Part::attention, Part::feed_forward, Part::experts}) {
      Unit unit{unit_name(number, part), number, part, 0, 0};
      bool exists = part == Part::attention;
      for (const Weight& weight : layer.weights) {
        if (part_of(weight.name) != part) continue;
        exists = true;
        unit.weights += weight.bytes;
      }
      if (part == Part::attention) unit.cache = cache_bytes(layer, scenario);
      if (exists) units.push_back(std::move(unit));
    }
  }
  units.push_back({"output", -1, std::nullopt, bytes_in(model.output) + copied_bytes(model), 0});
  return units;
}

Graph language_graph(const LanguageModel& model, const Scenario& scenario, const std::string& place) {
  check(scenario, place);
  if (model.layers.size() > most_layers)
    throw InputError(place, "has {} layers; graphs have at most {}", model.layers.size(), most_layers);
  StepBuilder step(model, scenario, place);
  Operand x = add_input(step);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i);
    const std::string layer = fmt::format("blk.{}", i), unit = unit_name(number, Part::feed_forward);
    step.begin(unit_name(number, Part::attention), layer, layer + ".", model.layers[i].weights);
    x = add_attention(step, model.layers[i], x);
    if (i + 1 == model.layers.size()) x = last_token(step, x);
    step.continue_with(unit);
    x = add_feed_forward(step, x, unit, unit_name(number, Part::experts));
  }
  add_output(step, x);
  return step.finish();
}

}  // namespace emplace::language
