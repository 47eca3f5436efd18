#include "language/step_builder.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "emplace/base/error.hpp"
#include "language/weight_type.hpp"

namespace emplace::language {

namespace {

// The element type of a parameter; values that are stored in blocks are i8, with the bytes of the blocks beside it.
DType dtype_of_weight(std::string_view type) {
  const std::pair<std::string_view, DType> plain[] = {{"F32", DType::f32}, {"F16", DType::f16}, {"BF16", DType::bf16},
                                                      {"F64", DType::f64}, {"I16", DType::i16}, {"I32", DType::i32},
                                                      {"I64", DType::i64}, {"U8", DType::u8}};
  const auto found = std::ranges::find_if(plain, [&](const auto& each) { return each.first == type; });
  return found == std::end(plain) ? DType::i8 : found->second;
}

std::string stem_of(const std::string& weight) { return weight.substr(0, weight.rfind('.')); }

}  // namespace

const char* computes_in(std::string_view weight_type) {
  const DType dtype = dtype_of_weight(weight_type);
  if (is_floating(dtype)) return emplace::name_of(dtype);
  // These are turned into numbers of 16 bits before they are multiplied.
  const bool is_widened = weight_type == "INT4" || weight_type == "INT8" || weight_type == "NF4";
  return emplace::name_of(is_widened ? DType::f16 : DType::i8);
}

std::map<std::string, Attribute> attributes_of(const Weight& weight) {
  return {{"weight_type", weight.type}, {"computes_in", std::string(computes_in(weight.type))}};
}

StepBuilder::StepBuilder(const LanguageModel& language_model, const Scenario& step, const std::string& where)
    : model(language_model), scenario(step), place(where), tokens(tokens_of(step)) {
  graph.name = model.name;
}

void StepBuilder::begin(std::string unit, std::string layer, std::string prefix, std::span<const Weight> weights) {
  EMPLACE_CHECK(std::ranges::find(taken_, false) == taken_.end(), "a weight of {} is in no op", unit_);
  unit_ = std::move(unit);
  layer_ = std::move(layer);
  prefix_ = std::move(prefix);
  weights_ = weights;
  taken_.assign(weights.size(), false);
}

OpId StepBuilder::add_op(const std::string& name, std::string type, std::vector<Operand> inputs,
                         std::map<std::string, Attribute> attributes) {
  GraphOp op;
  op.name = prefix_ + name;
  op.type = std::move(type);
  op.attributes = std::move(attributes);
  op.inputs = std::move(inputs);
  op.colocate = unit_;
  op.layer = op.module = layer_;
  return graph.add_op(std::move(op));
}

Operand StepBuilder::output(OpId op, Sizes sizes, DType dtype) {
  std::string name = graph.ops[op.index()].name;
  for (const std::int64_t size : sizes)
    if (size < 1) throw InputError(place, "the sizes of the weights leave {} values for {}", size, quote(name));
  if (const std::size_t before = graph.ops[op.index()].outputs.size(); before > 0) name += "." + std::to_string(before);
  return Operand::of(graph.add_output(op, std::move(name), dtype, Shape(std::move(sizes))));
}

Operand StepBuilder::add(const std::string& name, std::string type, std::vector<Operand> inputs, Sizes sizes) {
  return output(add_op(name, std::move(type), std::move(inputs)), std::move(sizes));
}

const Weight* StepBuilder::find(std::string_view name) const {
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (!taken_[i] && weights_[i].name == name) return &weights_[i];
  return nullptr;
}

bool StepBuilder::has_any_of(Part part) const {
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (!taken_[i] && part_of(weights_[i].name) == part) return true;
  return false;
}

Operand StepBuilder::take(const Weight& weight) {
  taken_[static_cast<std::size_t>(&weight - weights_.data())] = true;
  Sizes sizes(weight.sizes.rbegin(), weight.sizes.rend());
  const ParameterId id =
      graph.add_parameter(prefix_ + weight.name, dtype_of_weight(weight.type), Shape(std::move(sizes)), false);
  GraphParameter& parameter = graph.parameters[id.index()];
  if (parameter.bytes() != weight.bytes) parameter.stored_bytes = weight.bytes;
  return Operand::of(id);
}

std::vector<Operand> StepBuilder::take_all(std::string_view stem) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < weights_.size(); ++i)
    if (!taken_[i] && stem_of(weights_[i].name) == stem) operands.push_back(take(weights_[i]));
  return operands;
}

const Sizes& StepBuilder::sizes_of(const Operand& x) const { return graph.tensors[x.index].shape.dims; }

Operand StepBuilder::norm(const std::string& stem, const Operand& x) {
  if (!has(stem)) return x;
  const bool has_mean = find(stem + ".bias") != nullptr;
  std::vector<Operand> inputs = take_all(stem);
  inputs.insert(inputs.begin(), x);
  return add(stem, has_mean ? "LayerNormalization" : "RMSNormalization", std::move(inputs), sizes_of(x));
}

Operand StepBuilder::product(const std::string& stem, const Operand& x, Sizes sizes) {
  const Weight* weight = find(stem + ".weight");
  if (weight == nullptr) throw InputError(place, "has no weight {}{}.weight", prefix_, stem);
  if (sizes.empty()) {
    sizes = sizes_of(x);
    sizes.back() = weight->elements() / weight->columns();
  }
  std::vector<Operand> inputs = {x, take(*weight)};
  for (const Operand& vector : take_all(stem)) inputs.push_back(vector);
  return output(add_op(stem, "ggml.mul_mat", std::move(inputs), attributes_of(*weight)), std::move(sizes));
}

std::vector<Operand> StepBuilder::rest(const Operand& x, const std::function<bool(const Weight& weight)>& wanted) {
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const Weight& weight = weights_[i];
    if (taken_[i] || !wanted(weight)) continue;
    operands.push_back(weight.is_matrix() && has(stem_of(weight.name)) ? product(stem_of(weight.name), x)
                                                                       : take(weight));
  }
  return operands;
}

Graph StepBuilder::finish() {
  EMPLACE_CHECK(std::ranges::find(taken_, false) == taken_.end(), "a weight of {} is in no op", unit_);
  graph.validate(place);
  return std::move(graph);
}

}  // namespace emplace::language
